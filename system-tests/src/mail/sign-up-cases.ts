import assert from 'node:assert/strict';
import { createBrowser } from '../harness/browser.ts';
import { check, demand, medianOf, PASSWORD, PUBLIC_URL, type Site } from './site.ts';

const NEW = /^Finish signing up for Relay$/;
const KNOWN = /^You already have a Relay account$/;

/** Signing up, which tells only the owner of a mailbox whether its address has an account. */
export function signUpCases(of: () => Site): void {
  const request = (email: string) =>
    of().send(createBrowser(), of().newAddress(), 'POST', '/api/signup/link', { email });
  const found = (email: string, token?: string) => {
    const body = { name: 'Probe', email, password: PASSWORD, organization_name: 'Probe', token };
    return of().send(createBrowser(), of().newAddress(), 'POST', '/api/signup', body);
  };

  check('signing up gets the same response for a known and a new address, and each its message', async () => {
    const { email } = await of().join('Registered');
    for (const token of [undefined, `${'z'.repeat(8)}.${'x'.repeat(43)}`]) {
      const [known, fresh] = [await found(email, token), await found('unregistered@example.com', token)];
      assert.deepEqual([known.status, known.code], [fresh.status, fresh.code]);
      assert.equal(known.headers.getSetCookie().length, 0);
    }
    const [known, fresh] = [await request(email), await request('unregistered@example.com')];
    assert.deepEqual([known.status, known.body], [204, fresh.body]);
    assert.equal(fresh.status, 204);
    const told = await of().smtp.next(email, KNOWN);
    assert.ok(told.text.includes(`${PUBLIC_URL}/console/forgot-password`) && !told.text.includes('token='));
    const invited = await of().smtp.next('unregistered@example.com', NEW);
    assert.ok(invited.text.includes(`${PUBLIC_URL}/console/sign-up#token=`));
  });

  check('the time of a sign-up does not tell whether an address has an account', async () => {
    const known = await Promise.all(Array.from({ length: 8 }, (_, index) => of().join(`SignUp${index}`)));
    const spent = { known: [] as number[], fresh: [] as number[] };
    const timed = async (kind: keyof typeof spent, email: string) => {
      const begun = performance.now();
      demand(await request(email), 204);
      spent[kind].push(performance.now() - begun);
    };
    for (let round = 0; round < 2; round += 1) {
      for (const [index, { email }] of known.entries()) {
        const pair = [() => timed('known', email), () => timed('fresh', `fresh-${index}@example.com`)];
        for (const each of round % 2 === 0 ? pair : pair.toReversed()) await each();
      }
    }
    const [withAccount, without] = [medianOf(spent.known), medianOf(spent.fresh)];
    assert.ok(
      Math.abs(withAccount - without) < 5,
      `${withAccount} ms with an account, ${without} ms without`,
    );
  });
}
