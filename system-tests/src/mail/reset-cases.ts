import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createBrowser } from '../harness/browser.ts';
import { until } from '../harness/until.ts';
import { check, demand, medianOf, PASSWORD, type Person, PUBLIC_URL, type Site, tokenIn } from './site.ts';

const RESET = /^Reset your Relay password$/;
const CHANGED = /^Your Relay password was changed$/;
const NEXT = 'another horse, another battery';

/** A forgotten password: the link, what it opens, and what it ends. */
export function resetCases(of: () => Site): void {
  const request = (email: string, address = of().newAddress(), more?: Record<string, string>) =>
    of().send(createBrowser(), address, 'POST', '/api/session/password-reset', { email }, more);
  const confirm = (token: string, password = NEXT, address = of().newAddress()) =>
    of().send(createBrowser(), address, 'POST', '/api/session/password-reset/confirm', {
      token,
      new_password: password,
    });
  async function linkFor({ email }: Pick<Person, 'email'>): Promise<string> {
    demand(await request(email), 204);
    return tokenIn((await of().smtp.next(email, RESET)).text);
  }

  check('a reset link works once, ends every session, and is in the audit log', async () => {
    const person = await of().join('Forgetful');
    const open = await of().signIn(person.email, person.address);
    demand(await request(person.email), 204);
    const mail = await of().smtp.next(person.email, RESET);
    assert.deepEqual([mail.from, mail.to], ['relay@example.com', [person.email]]);
    const link = /^https?:\S+$/m.exec(mail.text)?.[0] ?? '';
    const token = tokenIn(link);
    assert.equal(link, `${PUBLIC_URL}/console/reset-password#token=${token}`);
    assert.deepEqual(mail.html.match(/(?:href|src)="[^"]+"/g), [`href="${link}"`]);
    demand(await confirm(token), 204);
    for (const browser of [person.browser, open.browser])
      for (const { url } of of().deployment.processes)
        assert.equal((await browser.send('GET', `${url}/api/session`)).status, 401);
    assert.equal((await of().signIn(person.email, person.address)).status, 401);
    assert.equal((await of().signIn(person.email, person.address, { password: NEXT })).status, 201);
    assert.deepEqual([(await confirm(token)).status, (await confirm(token)).code], [404, 'not_found']);
    await of().smtp.next(person.email, CHANGED);
    const entries = await of().accounts.query(
      `select actor_type, before, after from audit_log join users on users.id::text = target_id
       where action = 'user.reset_password' and email = $1`,
      [person.email],
    );
    assert.deepEqual(entries, [{ actor_type: 'user', before: null, after: null }]);
  });

  check('a link is stored as its digest only', async () => {
    const token = await linkFor(await of().join('Digest'));
    const rows = await of().accounts.query('select * from password_resets');
    const digest = createHash('sha256').update(token).digest();
    assert.ok(rows.some(({ token_hash }) => digest.equals(token_hash as Buffer)));
    assert.ok(!JSON.stringify(rows).includes(token));
  });

  check('an expired link, and one that was never made, get the same response', async () => {
    const token = await linkFor(await of().join('Late'));
    const digest = createHash('sha256').update(token).digest();
    await of().accounts.query(`update password_resets set expires_at = now() where token_hash = $1`, [
      digest,
    ]);
    const [late, never] = [await confirm(token), await confirm('x'.repeat(43))];
    assert.deepEqual([late.status, late.code], [404, 'not_found']);
    const told = (answer: typeof late) => (answer.body['error'] as { message: string }).message;
    assert.deepEqual([never.status, told(never)], [late.status, told(late)]);
  });

  check('a link changes its own user only', async () => {
    const [one, other] = [await of().join('One'), await of().join('Other')];
    demand(await confirm(await linkFor(one)), 204);
    assert.equal((await of().signIn(other.email, other.address)).status, 201);
    assert.equal((await of().signIn(other.email, other.address, { password: NEXT })).status, 401);
  });

  check('of ten concurrent uses of two links to one account, one succeeds', async () => {
    const person = await of().join('Racer');
    const tokens = [await linkFor(person), await linkFor(person)];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => confirm(tokens[index % 2] ?? '', `${NEXT} ${index}`)),
    );
    assert.equal(answers.filter(({ status }) => status === 204).length, 1);
    assert.equal(answers.filter(({ status }) => status === 404).length, 9);
  });

  check('a changed password or address ends the links that were made before', async () => {
    const move = { email: 'moved@example.com', password: PASSWORD };
    for (const [name, path, body, proven] of [
      [
        'Changer',
        '/api/account/password',
        { current_password: PASSWORD, new_password: `${PASSWORD}!` },
        false,
      ],
      ['Mover', '/api/account/email', move, true],
    ] as const) {
      const person = await of().join(name);
      const token = await linkFor(person);
      const send = (more = {}) =>
        of().send(person.browser, person.address, 'POST', path, { ...body, ...more });
      const done = await send();
      assert.ok(done.status < 300, JSON.stringify(done.body));
      if (proven) {
        // Until the new address is proven, the old one stays.
        const letter = await of().smtp.next(move.email, /^Confirm your new Relay email address$/);
        const answer = await send({ token: /#token=([^&\s]+)/.exec(letter.text)?.[1] });
        assert.equal(answer.status, 200, JSON.stringify(answer.body));
      }
      assert.equal((await confirm(token)).status, 404, name);
    }
    await of().smtp.next('changer@example.com', CHANGED);
    await of().smtp.next('mover@example.com', /^Your Relay email address was changed$/);
  });

  check('a weak password and a page of another site are rejected, and the link still works', async () => {
    const token = await linkFor(await of().join('Weak'));
    assert.equal((await confirm(token, 'short')).status, 400);
    const body = { token, new_password: NEXT };
    const path = '/api/session/password-reset/confirm';
    const foreign = { origin: 'https://evil.example' };
    const answer = await of().send(createBrowser(), of().newAddress(), 'POST', path, body, foreign);
    assert.deepEqual([answer.status, answer.code], [403, 'csrf_failed']);
    assert.equal((await request('weak@example.com', of().newAddress(), foreign)).status, 403);
    demand(await confirm(token), 204);
  });

  check('someone who is suspended or has no password gets no link, and the same response', async () => {
    const [suspended, single] = [await of().join('Suspended'), await of().join('Single')];
    await of().accounts.query(`update users set status = 'suspended' where email = $1`, [suspended.email]);
    await of().accounts.query(
      `delete from auth_accounts using users where users.id = user_id and email = $1`,
      [single.email],
    );
    const last = await of().join('Sentinel');
    for (const { email } of [suspended, single, last]) demand(await request(email), 204);
    await of().smtp.next(last.email, RESET);
    assert.deepEqual(
      [of().smtp.countTo(suspended.email, RESET), of().smtp.countTo(single.email, RESET)],
      [0, 0],
    );
  });

  check(
    'a mailbox gets three links an hour, whoever asks from wherever, and unknown addresses count alike',
    async () => {
      const { email } = await of().join('Bombed');
      for (const address of [email, 'nobody@example.com']) {
        const statuses: number[] = [];
        for (let index = 0; index < 6; index += 1) statuses.push((await request(address)).status);
        assert.deepEqual(statuses, [204, 204, 204, 429, 429, 429], address);
        const refused = await request(address.toUpperCase());
        assert.ok(
          Number(refused.headers.get('retry-after')) > 3_000,
          String(refused.headers.get('retry-after')),
        );
      }
      for (let index = 0; index < 3; index += 1) await of().smtp.next(email, RESET);
      assert.equal(of().smtp.countTo(email, RESET), 3);
    },
  );

  check('one client asks for twenty links an hour at most', async () => {
    const address = of().newAddress();
    const statuses: number[] = [];
    for (let index = 0; index < 22; index += 1)
      statuses.push((await request(`nobody-${index}@example.com`, address)).status);
    assert.deepEqual(statuses, [...Array<number>(20).fill(204), 429, 429]);
  });

  check('the time of the response does not tell whether an address has an account', async () => {
    const known = await Promise.all(Array.from({ length: 8 }, (_, index) => of().join(`Timed${index}`)));
    const spent: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
    const timed = async (kind: keyof typeof spent, email: string) => {
      const begun = performance.now();
      demand(await request(email), 204);
      spent[kind].push(performance.now() - begun);
    };
    for (let round = 0; round < 3; round += 1) {
      for (const [index, { email }] of known.entries()) {
        const unknown = () => timed('unknown', `timed-nobody-${index}@example.com`);
        if (round % 2 === 0) await unknown();
        await timed('known', email);
        if (round % 2 === 1) await unknown();
      }
    }
    const [withAccount, without] = [medianOf(spent.known), medianOf(spent.unknown)];
    assert.ok(
      Math.abs(withAccount - without) < 5,
      `${withAccount} ms with an account, ${without} ms without`,
    );
    // Every link was sent nevertheless.
    const all = () => known.every(({ email }) => of().smtp.countTo(email, RESET) === 3);
    assert.ok(await until(all, 20_000), 'three links for each');
  });
}
