import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  type Answer,
  type Browser,
  type ConsoleFixture,
  PASSWORD,
  signIn,
  signUp,
  startConsole,
} from './fixture.ts';

const NEW_PASSWORD = 'another horse, another staple';

describe('how users prove their identity', () => {
  let room: ConsoleFixture;
  before(async () => {
    room = await startConsole({ mode: 'hosted' });
  });
  after(() => room.close());

  const codeOf = ({ code }: Answer) => code;
  const changePassword = (browser: Browser, current: string, next = NEW_PASSWORD) =>
    browser.send('POST', '/api/account/password', { current_password: current, new_password: next });

  it('a new password ends every other session, and the old one opens nothing', async () => {
    const { browser, email } = await signUp(room, 'Changer');
    const bystander = await signUp(room, 'Bystander');
    const phone = room.browser();
    await signIn(phone, email);
    assert.equal(codeOf(await changePassword(browser, 'wrong')), 'invalid_credentials');
    assert.equal((await phone.send('GET', '/api/session')).status, 200);
    assert.equal((await changePassword(browser, PASSWORD)).status, 204);
    assert.equal((await browser.send('GET', '/api/session')).status, 200);
    assert.equal(codeOf(await phone.send('GET', '/api/session')), 'session_expired');
    assert.equal((await bystander.browser.send('GET', '/api/session')).status, 200);
    assert.equal(codeOf(await signIn(room.browser(), email)), 'invalid_credentials');
    assert.equal((await signIn(room.browser(), email, { password: NEW_PASSWORD })).status, 201);
  });

  it('a password of less than twelve characters is refused by name', async () => {
    const { browser } = await signUp(room, 'Short');
    const { status, body } = await changePassword(browser, PASSWORD, 'eleven char');
    assert.deepEqual([status, (body['error'] as { param: string }).param], [400, 'new_password']);
  });

  it('wrong passwords are counted: a session alone cannot guess', async () => {
    const { browser } = await signUp(room, 'Guessed');
    for (let index = 0; index < 10; index += 1)
      assert.equal(codeOf(await changePassword(browser, `guess ${index}`)), 'invalid_credentials');
    const { status, code, headers } = await changePassword(browser, PASSWORD);
    assert.deepEqual([status, code], [429, 'too_many_attempts']);
    assert.ok(Number(headers.get('retry-after')) > 800);
  });

  it('an address changes with the password, to an unused one', async () => {
    const { browser, email } = await signUp(room, 'Mover');
    await signUp(room, 'Resident');
    const move = (to: string, password = PASSWORD) =>
      browser.send('POST', '/api/account/email', { email: to, password });
    assert.equal(codeOf(await move('moved@example.com', 'wrong')), 'invalid_credentials');
    assert.equal(codeOf(await move('RESIDENT@example.com')), 'conflict');
    assert.doesNotMatch(JSON.stringify(await move('resident@example.com')), /sign in/i);
    const moved = await move('Moved@Example.com');
    assert.equal(moved.status, 200);
    assert.equal((moved.body['user'] as { email: string }).email, 'moved@example.com');
    assert.equal(codeOf(await signIn(room.browser(), email)), 'invalid_credentials');
    assert.equal((await signIn(room.browser(), 'moved@example.com')).status, 201);
    assert.equal((await move('moved@example.com')).status, 200);
  });

  it('a second factor counts once it is confirmed, and then every sign-in needs a code', async () => {
    const { browser, email } = await signUp(room, 'Careful');
    const start = (password = PASSWORD) => browser.send('POST', '/api/account/totp', { password });
    const confirm = (code: string) => browser.send('POST', '/api/account/totp/confirm', { code });
    assert.equal(codeOf(await confirm('123456')), 'conflict');
    assert.equal(codeOf(await start('wrong')), 'invalid_credentials');
    await start();
    const setup = await start();
    assert.equal(setup.status, 201);
    const secret = secretOf(setup);
    assert.equal((await signIn(room.browser(), email)).status, 201);
    assert.equal(codeOf(await confirm('000000')), 'invalid_credentials');
    const used = totp(secret, 0);
    assert.equal((await confirm(used)).status, 204);
    assert.equal((await browser.send('GET', '/api/session')).status, 200);
    assert.equal(codeOf(await start()), 'conflict');
    assert.equal(codeOf(await confirm(totp(secret, 1))), 'conflict');

    const asked = await signIn(room.browser(), email);
    assert.deepEqual([asked.status, asked.code, asked.setCookies], [401, 'totp_required', []]);
    const wrongPassword = { password: 'wrong', totp_code: totp(secret, 1) };
    assert.equal(codeOf(await signIn(room.browser(), email, wrongPassword)), 'invalid_credentials');
    const replayed = await signIn(room.browser(), email, { totp_code: used });
    assert.deepEqual([replayed.code, replayed.setCookies], ['invalid_credentials', []]);
    assert.equal((await signIn(room.browser(), email, { totp_code: totp(secret, 1) })).status, 201);
  });

  it('a code of the authenticator opens once, also for requests at the same moment', async () => {
    const { email, secret } = await withSecondFactor('Racer');
    const code = totp(secret, 1);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => signIn(room.browser(), email, { totp_code: code })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 401, 401, 401]);
  });

  it('each backup code opens once, also for requests at the same moment', async () => {
    const { email, backupCodes } = await withSecondFactor('Backup');
    assert.equal(backupCodes.length, 10);
    const [first = '', second = ''] = backupCodes;
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => signIn(room.browser(), email, { totp_code: first })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 401, 401]);
    assert.equal(codeOf(await signIn(room.browser(), email, { totp_code: first })), 'invalid_credentials');
    assert.equal((await signIn(room.browser(), email, { totp_code: second })).status, 201);
  });

  it('guessing codes with the right password ends like guessing passwords', async () => {
    const { email, secret } = await withSecondFactor('Patient');
    const asked = await signIn(room.browser(), email);
    assert.equal(asked.code, 'totp_required');
    for (let index = 0; index < 10; index += 1) {
      const wrong = await signIn(room.browser(), email, { totp_code: `AAAAA-AAAA${index}` });
      assert.equal(wrong.code, 'invalid_credentials');
    }
    assert.equal(
      codeOf(await signIn(room.browser(), email, { totp_code: totp(secret, 1) })),
      'too_many_attempts',
    );
  });

  it('a second factor is removed with the password, and can be set up again', async () => {
    const { browser, email } = await withSecondFactor('Remover');
    const remove = (password: string) => browser.send('POST', '/api/account/totp/remove', { password });
    assert.equal(codeOf(await remove('wrong')), 'invalid_credentials');
    assert.equal((await remove(PASSWORD)).status, 204);
    assert.equal((await signIn(room.browser(), email)).status, 201);
    assert.equal((await browser.send('POST', '/api/account/totp', { password: PASSWORD })).status, 201);
  });

  it('a session says whether there is a password and a second factor, for all sessions alike', async () => {
    const { browser, email, backupCodes } = await withSecondFactor('Asker');
    const phone = room.browser();
    await signIn(phone, email, { totp_code: backupCodes[0] ?? '' });
    const said = async ({ send }: Browser) => {
      const { body } = await send('GET', '/api/session');
      return [body['has_password'], body['has_second_factor']];
    };
    assert.deepEqual([await said(browser), await said(phone)], [Array(2).fill(true), Array(2).fill(true)]);
    await browser.send('POST', '/api/account/totp/remove', { password: PASSWORD });
    assert.deepEqual([await said(browser), await said(phone)], Array(2).fill([true, false]));
    // A setup that is not confirmed is not active.
    await browser.send('POST', '/api/account/totp', { password: PASSWORD });
    assert.deepEqual(await said(browser), [true, false]);
    await room.db
      .deleteFrom('auth_accounts')
      .where('user_id', '=', await idOf(browser))
      .execute();
    assert.deepEqual(await said(browser), [false, false]);
  });

  it('a person without a password is told so, not that it is wrong', async () => {
    const { browser } = await signUp(room, 'Single');
    await room.db
      .deleteFrom('auth_accounts')
      .where('user_id', '=', await idOf(browser))
      .execute();
    const password = PASSWORD;
    const answers = [
      await changePassword(browser, password),
      await browser.send('POST', '/api/account/email', { email: 'single@example.com', password }),
      await browser.send('POST', '/api/account/totp', { password }),
      await browser.send('POST', '/api/account/totp/remove', { password }),
    ];
    for (const { status, body } of answers) {
      assert.equal(status, 409);
      assert.match((body['error'] as { message: string }).message, /has no password/);
    }
  });

  async function idOf({ send }: Browser): Promise<string> {
    return ((await send('GET', '/api/session')).body['user'] as { id: string }).id;
  }

  it('the secret and the backup codes are in no table in clear, and every change is in the audit log', async () => {
    const { secret, backupCodes, organizationId } = await withSecondFactor('Sealed');
    const dump = JSON.stringify([
      await room.db.selectFrom('auth_two_factors').selectAll().execute(),
      await room.db.selectFrom('audit_log').selectAll().execute(),
    ]);
    for (const text of [secret, ...backupCodes]) assert.ok(!dump.includes(text));
    const rows = await room.db
      .selectFrom('audit_log')
      .select('action')
      .where('organization_id', '=', organizationId)
      .execute();
    assert.deepEqual(rows.map(({ action }) => action).sort(), [
      'organization.create',
      'session.create',
      'user.confirm_totp',
      'user.start_totp',
    ]);
  });

  async function withSecondFactor(name: string) {
    const person = await signUp(room, name);
    const setup = await person.browser.send('POST', '/api/account/totp', { password: PASSWORD });
    const secret = secretOf(setup);
    const confirmed = await person.browser.send('POST', '/api/account/totp/confirm', {
      code: totp(secret, 0),
    });
    assert.equal(confirmed.status, 204);
    return { ...person, secret, backupCodes: setup.body['backup_codes'] as string[] };
  }
});

/** The secret of an otpauth:// address, as an authenticator app reads it. */
function secretOf({ body }: Answer): string {
  const text = new URL(body['uri'] as string).searchParams.get('secret') ?? '';
  const bits = [...text].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  const bytes = bits.join('').match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2))).toString();
}

/** The code an authenticator app shows now, or some steps later. */
function totp(secret: string, stepsLater: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + stepsLater));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
