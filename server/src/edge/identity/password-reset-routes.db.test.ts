import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import type { Letter } from '../../mail/letter.ts';
import { type Browser, type ConsoleFixture, join, PASSWORD, signIn, startConsole } from './fixture.ts';
import { createResetLink } from './password-resets.ts';
import { findUserByEmail, readUser } from './people.ts';

const NEXT = 'another horse, another battery';

describe('a reset link and the address that it was sent to', () => {
  const posted = new EventEmitter();
  let room: ConsoleFixture;
  before(async () => {
    room = await startConsole({
      mail: {
        async post(letter) {
          posted.emit(letter.subject + letter.to, letter);
          return true;
        },
        deliver: async () => null,
      },
    });
  });
  after(() => room.close());

  async function reset(email: string): Promise<void> {
    const arrived = once(posted, `Reset your Relay password${email}`);
    const asked = await room.browser().send('POST', '/api/session/password-reset', { email });
    assert.equal(asked.status, 204);
    const [{ text }] = (await arrived) as [Letter];
    const token = /#token=(\S+)/.exec(text)?.[1];
    const body = { token, new_password: NEXT };
    const confirmed = await room.browser().send('POST', '/api/session/password-reset/confirm', body);
    assert.equal(confirmed.status, 204);
  }

  /** A member with a second factor and an identity of single sign-on. */
  async function guarded(name: string) {
    const person = await join(room, room.owner.organizationId, name);
    const user_id = person.userId;
    await room.db
      .insertInto('auth_two_factors')
      .values({ id: randomUUIDv7(), user_id, secret: 'sealed', backup_codes: 'sealed', verified: true })
      .execute();
    await room.db.updateTable('users').set({ two_factor_enabled: true }).where('id', '=', user_id).execute();
    await room.db
      .insertInto('auth_accounts')
      .values({ id: randomUUIDv7(), user_id, provider_id: 'https://issuer.example', account_id: name })
      .execute();
    return person;
  }
  async function providersOf(userId: string): Promise<string[]> {
    const rows = await room.db
      .selectFrom('auth_accounts')
      .select('provider_id')
      .where('user_id', '=', userId)
      .orderBy('provider_id')
      .execute();
    return rows.map(({ provider_id }) => provider_id);
  }
  async function actionsOf(userId: string): Promise<string[]> {
    const rows = await room.db
      .selectFrom('audit_log')
      .select('action')
      .where('target_id', '=', userId)
      .orderBy('id')
      .execute();
    return rows.map(({ action }) => action);
  }
  /** As a deployment without email takes a new address. */
  const typed = (userId: string, email: string) =>
    room.db.updateTable('users').set({ email, email_verified: false }).where('id', '=', userId).execute();
  const send = (browser: Browser, body: object) =>
    browser.send('POST', '/api/account/email', { password: PASSWORD, ...body });
  async function linkTo(browser: Browser, email: string): Promise<string> {
    const arrived = once(posted, `Confirm your new Relay email address${email}`);
    const asked = await send(browser, { email });
    assert.notEqual((asked.body['user'] as { email: string }).email, email);
    const [{ text }] = (await arrived) as [Letter];
    return /#token=([^&\s]+)/.exec(text)?.[1] ?? '';
  }
  async function move(browser: Browser, email: string): Promise<void> {
    const { status } = await send(browser, { email, token: await linkTo(browser, email) });
    assert.equal(status, 200);
  }
  const isVerified = async (userId: string) => (await readUser(room.db, userId)).email_verified;

  it('gives the owner of an address the account of someone who typed it, without their second factor', async () => {
    const { browser, userId } = await guarded('Sam');
    await typed(userId, 'victim@corp.test');
    assert.equal(await isVerified(userId), false);
    await reset('victim@corp.test');
    assert.equal((await browser.send('GET', '/api/session')).code, 'session_expired');
    const opened = await signIn(room.browser(), 'victim@corp.test', { password: NEXT });
    assert.equal(opened.status, 201, JSON.stringify(opened.body));
    assert.equal(opened.body['has_second_factor'], false);
    assert.equal(await isVerified(userId), true);
    assert.deepEqual(await providersOf(userId), ['credential']);
    assert.deepEqual((await actionsOf(userId)).sort(), ['user.remove_totp', 'user.reset_password']);
  });

  it('lets a removed member, whose address someone else typed for them, accept an invitation', async () => {
    const { userId } = await guarded('Rita');
    await typed(userId, 'owner@corp.test');
    await room.db.deleteFrom('organization_members').where('user_id', '=', userId).execute();
    await reset('owner@corp.test');
    const token = await room.invite(room.owner.organizationId, 'owner@corp.test', 'developer');
    const accepted = await room.browser().send('POST', '/api/invitations/accept', { token, password: NEXT });
    assert.equal(accepted.status, 201, JSON.stringify(accepted.body));
  });

  it('leaves the second factor at a verified address', async () => {
    const { email, userId } = await guarded('Ada');
    assert.equal(await isVerified(userId), true);
    await reset(email);
    assert.equal((await signIn(room.browser(), email, { password: NEXT })).code, 'totp_required');
    assert.deepEqual(await providersOf(userId), ['credential', 'https://issuer.example']);
    assert.deepEqual(await actionsOf(userId), ['user.reset_password']);
  });

  it('is of the old address until the link to the new one is used, with the password', async () => {
    const { browser, email, userId } = await join(room, room.owner.organizationId, 'Slow');
    const token = await linkTo(browser, 'slow@corp.test');
    assert.equal((await readUser(room.db, userId)).email, email);
    const elsewhere = await join(room, room.owner.organizationId, 'Thief');
    for (const [who, body] of [
      [browser, { email: 'other@corp.test', token }],
      [elsewhere.browser, { email: 'slow@corp.test', token }],
      [browser, { email: 'slow@corp.test', token: `${token.slice(0, -1)}_` }],
    ] as const)
      assert.equal((await send(who, body)).code, 'not_found');
    assert.equal(
      (await send(browser, { email: 'slow@corp.test', token, password: 'wrong' })).code,
      'invalid_credentials',
    );
    assert.equal((await send(browser, { email: 'slow@corp.test', token })).status, 200);
    assert.deepEqual(
      [(await readUser(room.db, userId)).email, await isVerified(userId)],
      ['slow@corp.test', true],
    );
    assert.equal((await send(elsewhere.browser, { email: 'slow@corp.test' })).code, 'conflict');
  });

  it('makes no link for an address that the account has left', async () => {
    const { browser, email } = await join(room, room.owner.organizationId, 'Mover');
    const before = await findUserByEmail(room.db, email);
    assert.ok(before);
    await move(browser, 'moved@corp.test');
    assert.equal(await createResetLink(room.db, room.url, before), undefined);
  });
});
