import assert from 'node:assert/strict';
import { IS_LONG } from '@relay/testbed/long-form';
import { codeOf } from '../harness/authenticator.ts';
import { check, demand, PASSWORD, type Site } from './site.ts';

const GUESSERS = IS_LONG ? 1_000 : 400;
const CONCURRENT = 60;

/** Who is rejected after wrong passwords, and who is not. */
export function attemptCases(of: () => Site): void {
  const guess = (email: string, address: string, index = 0) =>
    of().signIn(email, address, { password: `wrong ${index}` });

  check('ten wrong passwords from one address do not keep the right one from another address', async () => {
    const { email, address: home } = await of().join('Target');
    const other = await of().join('Neighbour');
    const attacker = of().newAddress();
    for (let index = 0; index < 10; index += 1)
      assert.equal((await guess(email, attacker, index)).status, 401);
    const refused = await of().signIn(email, attacker);
    assert.deepEqual([refused.status, refused.code], [429, 'too_many_attempts']);
    const seconds = Number(refused.headers.get('retry-after'));
    assert.ok(seconds > 600 && seconds <= 900, `Retry-After: ${seconds}`);
    for (const address of [of().newAddress(), home]) {
      const begun = performance.now();
      demand(await of().signIn(email, address), 201);
      assert.ok(performance.now() - begun < 2_000, `${performance.now() - begun} ms`);
    }
    // The address is rejected at this account, not at others.
    demand(await of().signIn(other.email, attacker), 201);
  });

  check('a forged X-Forwarded-For does not give an attacker another address', async () => {
    const { email } = await of().join('Forged');
    const attacker = of().newAddress();
    const statuses: number[] = [];
    for (let index = 0; index < 12; index += 1)
      statuses.push((await guess(email, `203.0.113.${index}, ${attacker}`, index)).status);
    assert.deepEqual(statuses, [...Array<number>(10).fill(401), 429, 429]);
  });

  check(
    `Relay bounds ${GUESSERS} addresses together that guess one password, and their owner can still sign in`,
    async () => {
      const { email, address: home } = await of().join('Besieged');
      const bystander = await of().join('Unharmed');
      const statuses: number[] = [];
      const left = Array.from({ length: GUESSERS }, () => of().newAddress());
      const begun = performance.now();
      const attack = Array.from({ length: CONCURRENT }, async () => {
        for (let address = left.pop(); address !== undefined; address = left.pop())
          statuses.push((await guess(email, address)).status);
      });
      const visit = async (who: { email: string; address: string }) => {
        while (statuses.length < 100) await new Promise((resolve) => setTimeout(resolve, 20));
        const started = performance.now();
        const { status } = await of().signIn(who.email, who.address);
        return { status, ms: performance.now() - started };
      };
      const visits = Promise.all([visit({ email, address: home }), visit(bystander)]);
      await Promise.all(attack);
      const [owner, other] = await visits;
      const seconds = (performance.now() - begun) / 1_000;
      const tried = statuses.filter((status) => status === 401).length;
      assert.equal(tried + statuses.filter((status) => status === 429).length, GUESSERS);
      // Twenty without a wait, then four in a second, with ten seconds of those that wait at the end.
      const most = 20 + 4 * (seconds + 1);
      assert.ok(tried <= most, `${tried} passwords were tried in ${seconds} s`);
      assert.deepEqual([owner.status, other.status], [201, 201]);
      // The owner passes the line of guesses: it takes what it takes at an account that is not attacked.
      assert.ok(owner.ms < 2_000 + 3 * other.ms, `${owner.ms} ms, and ${other.ms} ms elsewhere`);
      // A client at an address that the account does not know waits, and is not rejected.
      const late = performance.now();
      demand(await of().signIn(email, of().newAddress()), 201);
      assert.ok(performance.now() - late < 12_000 + 3 * other.ms);
    },
  );

  check('a used reset link lets its address sign in during an attack', async () => {
    const { email } = await of().join('Rescued');
    const attack = () => {
      for (let index = 0; index < 70; index += 1) void guess(email, of().newAddress()).catch(() => undefined);
    };
    attack();
    const here = of().newAddress();
    const { browser } = await of().join('Bystander');
    browser.csrfToken = '';
    browser.cookies.clear();
    demand(await of().send(browser, here, 'POST', '/api/session/password-reset', { email }), 204);
    const mail = await of().smtp.next(email, /^Reset/);
    const token = /#token=([\w-]+)/.exec(mail.text)?.[1];
    const body = { token, new_password: `${PASSWORD}!` };
    demand(await of().send(browser, here, 'POST', '/api/session/password-reset/confirm', body), 204);
    // On a slow machine the first guesses are over by now.
    attack();
    // An attempt from an unknown address, begun earlier, waits for its turn or is rejected.
    const order: string[] = [];
    const right = { password: `${PASSWORD}!` };
    const unknown = of().signIn(email, of().newAddress(), right);
    const noted = unknown.then(({ status }) => order.push(status === 429 ? 'rejected' : 'unknown'));
    demand(await of().signIn(email, here, right), 201);
    order.push('known');
    await noted;
    assert.ok(order[0] !== 'unknown', order.join(', '));
  });

  check(
    'wrong codes of a second factor are limited for the account, from all addresses together',
    async () => {
      const { email, browser, address } = await of().join('Factor');
      const setup = demand(
        await of().send(browser, address, 'POST', '/api/account/totp', { password: PASSWORD }),
        201,
      );
      const code = codeOf(String(setup.body['uri']));
      demand(await of().send(browser, address, 'POST', '/api/account/totp/confirm', { code }), 204);
      const statuses: number[] = [];
      for (let index = 0; index < 12; index += 1)
        statuses.push((await of().signIn(email, of().newAddress(), { totp_code: '000000' })).status);
      assert.deepEqual(statuses, [...Array<number>(10).fill(401), 429, 429]);
    },
  );
}
