import { createHmac, randomUUIDv7 } from 'node:crypto';
import { type Answer, type Caller, idOf, itemsOf, NO_ID, textAt } from './answer.ts';
import type { Walk } from './walk.ts';
import { tokenOf } from './walk-organization.ts';
import { nobody, type World } from './world.ts';

/** What only browsers do, in every mode as far as it has people. */
export async function walkSessions(world: World, caller: Caller): Promise<void> {
  const { walk } = world;
  const operator = await signInWithToken(world);
  const person = await arrive(world, caller);
  await walkSession(walk, person ?? operator ?? nobody);
  await walkProofs(world, person ?? operator ?? nobody);
  await walk.expect(nobody, 'GET /api/session/methods', '200');
  const reset = 'POST /api/session/password-reset';
  const forgotten = { body: { email: 'nobody@example.com' } };
  await walk.expect(nobody, reset, '403 mail_not_configured', forgotten);
  await walk.expect(nobody, 'POST /api/signup/link', '403 mail_not_configured', forgotten);
  const guessed = { body: { token: walk.secrets.plant('a guessed token'), new_password: password } };
  await walk.expect(nobody, `${reset}/confirm`, '404 not_found', guessed);
  for (const line of ['GET /api/sso/start', 'GET /api/sso/callback'])
    await walk.expect(nobody, line, '403 mode_unsupported');
  for (const browser of [person, operator]) {
    if (browser === null) continue;
    // The founder is the last owner, and the admin token is not a member.
    const isInvited = browser === person && !walk.mode.hosted;
    await walk.expect(browser, 'DELETE /api/account/membership', isInvited ? '204' : '409 conflict');
    if (isInvited) {
      await walk.expect(browser, 'GET /api/session', '401 session_expired');
      continue;
    }
    const ended = await walk.expect(browser, 'DELETE /api/session', '204');
    if (!/relay_session=;.*Max-Age=0/.test(ended.headers.get('set-cookie') ?? ''))
      walk.fault('DELETE /api/session: the cookie stays');
    await walk.expect(browser, 'GET /api/session', '401 session_expired');
  }
}

const password = 'correct horse battery staple';

const sessionOnly: readonly (readonly [line: string, body?: object])[] = [
  ['GET /api/session'],
  ['PATCH /api/session', { org_id: NO_ID }],
  ['DELETE /api/session'],
  ['DELETE /api/account/membership'],
  ['GET /api/account/sessions'],
  [`DELETE /api/account/sessions/${NO_ID}`],
  ['POST /api/account/password', { current_password: password, new_password: password }],
  ['POST /api/account/email', { email: 'other@example.com', password }],
  ['POST /api/account/totp', { password }],
  ['POST /api/account/totp/confirm', { code: '123456' }],
  ['POST /api/account/totp/remove', { password }],
];

export async function refuseKeys({ walk }: World, caller: Caller): Promise<void> {
  for (const [line, body] of sessionOnly) {
    const { summary } = await walk.send(caller, line, { body });
    if (summary !== '403 permission_denied') walk.fault(`${line} with a key is ${summary}`);
  }
}

/** Who a browser is after an answer that opened a session. */
function browserOf(walk: Walk, answer: Answer, actor: 'user' | 'admin_token'): Caller {
  const cookie = /^relay_session=([^;]+);(.*)$/.exec(answer.headers.get('set-cookie') ?? '');
  if (cookie === null || !/HttpOnly/.test(cookie[2] ?? '') || !/SameSite=Lax/.test(cookie[2] ?? ''))
    walk.fault(`${answer.line}: the cookie is ${answer.headers.get('set-cookie')}`);
  walk.secrets.shownBy(answer, 'the cookie of a session', cookie?.[1] ?? '');
  const userId = textAt(answer, 'user', 'id');
  return {
    headers: { cookie: `relay_session=${cookie?.[1]}`, 'x-csrf-token': textAt(answer, 'csrf_token') },
    organizationId: textAt(answer, 'org', 'id'),
    userId,
    actor: { type: actor, id: userId },
  };
}

async function signInWithToken({ walk, deployment }: World): Promise<Caller | null> {
  const line = 'POST /api/session';
  const wrong = { body: { token: walk.secrets.plant('a wrong token') } };
  const usual = walk.mode.hosted ? '403 mode_unsupported' : '401 invalid_credentials';
  await walk.expect(nobody, line, usual, wrong);
  if (walk.mode.hosted) return null;
  const body = { token: deployment.adminToken };
  return browserOf(walk, await walk.expect(nobody, line, '201', { body }), 'admin_token');
}

/** Invites a person who accepts; null without accounts. */
export async function invite({ walk }: Pick<World, 'walk'>, caller: Caller): Promise<Caller | null> {
  const invited = await walk.send(caller, 'POST /api/org/invitations', {
    body: { email: `invited-${randomUUIDv7()}@example.com`, role: 'developer' },
  });
  const token = tokenOf(textAt(invited, 'accept_url'));
  walk.secrets.shownBy(invited, 'the token of an invitation', token);
  const accepting = { body: { token: token || 'none', name: 'Invited', password } };
  const joined = await walk.expect(nobody, 'POST /api/invitations/accept', '201', accepting);
  return walk.mode.accounts ? browserOf(walk, joined, 'user') : null;
}

/** A new member: signed up where organizations can be created, else invited; null without accounts. */
async function arrive({ walk, accounts }: World, caller: Caller): Promise<Caller | null> {
  const email = `walker-${caller.userId}@example.com`;
  const person = { name: 'Walker', email, password };
  walk.secrets.know('a password', password);
  const founding = { body: { ...person, organization_name: 'Walkers' } };
  const founded = await walk.expect(nobody, 'POST /api/signup', '201', founding);
  const member = await invite({ walk }, caller);
  if (member === null || !walk.mode.hosted) return member;
  const owner = browserOf(walk, founded, 'user');
  // The plan of a member who signed up does not include the audit log, which the walk reads.
  await accounts.query(`update organizations set plan = 'team' where id = $1`, [owner.organizationId]);
  await accounts.changed(owner.organizationId);
  return owner;
}

async function walkSession(walk: Walk, browser: Caller): Promise<void> {
  await walk.expect(browser, 'GET /api/session', '200');
  const here = { body: { org_id: browser.organizationId } };
  await walk.expect(browser, 'PATCH /api/session', '200', here);
  const elsewhere = { body: { org_id: NO_ID } };
  await walk.expect(browser, 'PATCH /api/session', '404 not_found', elsewhere);
  const line = 'GET /api/account/sessions';
  const listed = itemsOf(await walk.expect(browser, line, '200'));
  if (listed.filter(({ current }) => current === true).length !== 1)
    walk.fault(`${line}: it is not one session that is current`);
  await walk.expect(browser, `DELETE /api/account/sessions/${NO_ID}`, '404 not_found');
  // A write needs more than the cookie, which browsers send by themselves.
  const { cookie = '' } = browser.headers;
  const forged = { ...browser, headers: { cookie } };
  const name = { body: { name: 'Forged' } };
  await walk.expect(forged, 'PATCH /api/account', '403 csrf_failed', name);
}

/** Passwords, addresses and second factors. */
async function walkProofs({ walk }: World, browser: Caller): Promise<void> {
  const account = await walk.expect(browser, 'GET /api/account', '200');
  const email = textAt(account, 'user', 'email');
  const next = 'a longer and a better password';
  walk.secrets.know('the password that replaced it', next);
  const wrong = { body: { current_password: next, new_password: next } };
  await walk.expect(browser, 'POST /api/account/password', '401 invalid_credentials', wrong);
  const right = { body: { current_password: password, new_password: next } };
  await walk.expect(browser, 'POST /api/account/password', '204', right);
  const moved = { body: { email: `moved-${email}`, password: next } };
  await walk.expect(browser, 'POST /api/account/email', '200', moved);

  const signIn = { email: `moved-${email}`, password: next };
  const setup = await walk.expect(browser, 'POST /api/account/totp', '201', {
    body: { password: next },
  });
  const { uri = '', backup_codes: codes = [] } = setup.body as { uri?: string; backup_codes?: string[] };
  const secret = /secret=([A-Z2-7]+)/.exec(uri)?.[1] ?? '';
  walk.secrets.shownBy(setup, 'the secret of a second factor', secret);
  for (const code of codes) walk.secrets.shownBy(setup, 'a backup code', code);
  const code = { body: { code: totpOf(secret, Date.now()) } };
  await walk.expect(browser, 'POST /api/account/totp/confirm', '204', code);
  if (walk.mode.accounts) await walkSignIn(walk, browser, { ...signIn, backupCode: codes[0] ?? '' });
  const proof = { body: { password: next } };
  await walk.expect(browser, 'POST /api/account/totp/remove', '204', proof);
}

async function walkSignIn(
  walk: Walk,
  browser: Caller,
  { email, password: known, backupCode }: { email: string; password: string; backupCode: string },
): Promise<void> {
  const line = 'POST /api/session';
  const old = { body: { email, password } };
  await walk.expect(nobody, line, '401 invalid_credentials', old);
  await walk.expect(nobody, line, '401 totp_required', { body: { email, password: known } });
  const whole = { body: { email, password: known, totp_code: backupCode } };
  const opened = await walk.expect(nobody, line, '201', whole);
  const second = browserOf(walk, opened, 'user');
  await walk.expect(nobody, line, '401 invalid_credentials', whole);
  const listed = itemsOf(await walk.send(second, 'GET /api/account/sessions'));
  const id = String(listed.find(({ current }) => current === true)?.['id'] ?? idOf(opened));
  await walk.expect(browser, `DELETE /api/account/sessions/${id}`, '204');
  await walk.expect(second, 'GET /api/session', '401 session_expired');
}

/** RFC 6238: six digits, thirty seconds, SHA-1. */
function totpOf(base32: string, nowMs: number): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...base32].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(nowMs / 30_000)));
  const mac = createHmac('sha1', Buffer.from(bytes)).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0x0f;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
