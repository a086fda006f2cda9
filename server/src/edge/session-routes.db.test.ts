import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { allScopes } from '@relay/contract';
import { type ConsoleFixture, join, PASSWORD, signIn, signUp, startConsole } from './identity/fixture.ts';

describe('a hosted console', () => {
  let room: ConsoleFixture;
  before(async () => {
    room = await startConsole({ mode: 'hosted' });
  });
  after(() => room.close());

  const actionsOf = async (organizationId: string) => {
    const rows = await room.db
      .selectFrom('audit_log')
      .select(['action', 'actor_type'])
      .where('organization_id', '=', organizationId)
      .execute();
    return rows.map((row) => `${row.actor_type} ${row.action}`).sort();
  };

  it('signs a user up with their own organization, on the free plan, as its owner', async () => {
    const { answer, userId, organizationId } = await signUp(room, 'Ada');
    assert.deepEqual(
      { ...answer.body, csrf_token: typeof answer.body['csrf_token'], expires_at: null },
      {
        user: {
          id: userId,
          name: 'Ada',
          email: 'ada@example.com',
          status: 'active',
          marketing_opt_in: false,
        },
        org: { id: organizationId, name: 'Ada Inc' },
        role: 'owner',
        suspended: false,
        orgs: [{ id: organizationId, name: 'Ada Inc' }],
        has_password: true,
        has_second_factor: false,
        csrf_token: 'string',
        expires_at: null,
      },
    );
    const row = await room.db
      .selectFrom('organizations')
      .selectAll()
      .where('id', '=', organizationId)
      .executeTakeFirstOrThrow();
    assert.deepEqual([row.plan, row.slug], ['free', 'ada-inc']);
    assert.ok(row.config_version > 0);
    assert.deepEqual(await actionsOf(organizationId), ['user organization.create', 'user session.create']);
  });

  it('gives organizations of the same name different slugs, also at the same moment', async () => {
    const sign = (email: string) =>
      room.browser().send('POST', '/api/signup', {
        name: 'Same',
        email,
        password: PASSWORD,
        organization_name: 'Same Name',
      });
    const emails = Array.from({ length: 7 }, (_, index) => `same-${index}@example.com`);
    const answers = await Promise.all(emails.map(sign));
    assert.deepEqual(
      answers.map(({ status }) => status),
      emails.map(() => 201),
    );
    const rows = await room.db
      .selectFrom('organizations')
      .select('slug')
      .where('name', '=', 'Same Name')
      .execute();
    assert.equal(new Set(rows.map(({ slug }) => slug)).size, 7);
  });

  it('refuses an address that has an account, in whatever case, and leaves nothing of the attempt behind', async () => {
    await signUp(room, 'Taken');
    const again = await room.browser().send('POST', '/api/signup', {
      name: 'Other',
      email: 'TAKEN@Example.com',
      password: PASSWORD,
      organization_name: 'Nobody Wants It',
    });
    assert.equal(again.status, 409);
    assert.equal(again.code, 'conflict');
    assert.deepEqual(again.setCookies, []);
    const orgs = await room.db
      .selectFrom('organizations')
      .select('id')
      .where('name', '=', 'Nobody Wants It')
      .execute();
    assert.deepEqual(orgs, []);
  });

  it('refuses a name that cannot be stored, by its field', async () => {
    const body = { name: 'Ada', email: 'nul@example.com', password: PASSWORD, organization_name: 'Nul' };
    for (const param of ['name', 'organization_name']) {
      const answer = await room.browser().send('POST', '/api/signup', { ...body, [param]: 'a\0b' });
      assert.deepEqual([answer.status, (answer.body['error'] as { param: string }).param], [400, param]);
    }
  });

  it('keeps the cookie from scripts and from other sites', async () => {
    const { answer } = await signUp(room, 'Attributes');
    assert.equal(answer.setCookies.length, 1);
    const form = /^relay_session=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/;
    assert.match(answer.setCookies[0] ?? '', form);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  });

  it('stores neither password nor cookie', async () => {
    const { browser } = await signUp(room, 'Secretive');
    const dump = JSON.stringify([
      await room.db.selectFrom('users').selectAll().execute(),
      await room.db.selectFrom('sessions').selectAll().execute(),
      await room.db.selectFrom('auth_accounts').selectAll().execute(),
      await room.db.selectFrom('audit_log').selectAll().execute(),
    ]);
    assert.ok(dump.includes('secretive@example.com'));
    assert.ok(!dump.includes(PASSWORD));
    assert.ok(!dump.includes(browser.cookies.get('relay_session') ?? 'no cookie'));
  });

  it('signs in with address and password, and says the same of a wrong password as of a wrong address', async () => {
    const { email, userId } = await signUp(room, 'Grace');
    const browser = room.browser();
    const right = await signIn(browser, 'GRACE@example.com');
    assert.equal(right.status, 201);
    assert.equal((right.body['user'] as { id: string }).id, userId);
    assert.equal((await browser.send('GET', '/api/session')).status, 200);
    const wrong = await signIn(room.browser(), email, { password: 'not the password' });
    const unknown = await signIn(room.browser(), 'nobody@example.com');
    for (const { status, code, setCookies } of [wrong, unknown])
      assert.deepEqual([status, code, setCookies], [401, 'invalid_credentials', []]);
    const text = ({ body }: typeof wrong) => JSON.stringify({ ...(body['error'] as object), request_id: '' });
    assert.equal(text(wrong), text(unknown));
  });

  it('asks for what is missing, by name', async () => {
    const none = await room.browser().send('POST', '/api/session', {});
    assert.deepEqual([none.status, none.code], [400, 'invalid_request']);
    const half = await room.browser().send('POST', '/api/session', { email: 'a@example.com' });
    assert.equal((half.body['error'] as { param: string }).param, 'password');
    const token = await room.browser().send('POST', '/api/session', { token: room.adminToken });
    assert.deepEqual([token.status, token.code], [403, 'mode_unsupported']);
  });

  it('signs a suspended user in to leave, and rejects one without a membership, although the password is right', async () => {
    const { email, userId } = await signUp(room, 'Outsider');
    await room.db
      .updateTable('organization_members')
      .set({ status: 'suspended' })
      .where('user_id', '=', userId)
      .execute();
    const suspended = await signIn(room.browser(), email);
    assert.equal(suspended.status, 201);
    assert.equal(suspended.body['suspended'], true);
    await room.db.deleteFrom('organization_members').where('user_id', '=', userId).execute();
    assert.equal((await signIn(room.browser(), email)).code, 'permission_denied');
    assert.equal((await signIn(room.browser(), email, { password: 'wrong' })).code, 'invalid_credentials');
  });

  it('signs out: the cookie is taken back and opens nothing any more, wherever it was copied to', async () => {
    const { browser, organizationId } = await signUp(room, 'Leaver');
    const copy = room.browser();
    copy.cookies.set('relay_session', browser.cookies.get('relay_session') ?? '');
    assert.equal((await copy.send('GET', '/api/session')).status, 200);
    const out = await browser.send('DELETE', '/api/session');
    assert.equal(out.status, 204);
    assert.match(out.setCookies[0] ?? '', /^relay_session=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/);
    const late = await copy.send('GET', '/api/session');
    assert.deepEqual([late.status, late.code], [401, 'session_expired']);
    assert.ok((await actionsOf(organizationId)).includes('user session.delete'));
  });

  it('lists a user’s own sessions and ends them one by one, and no others', async () => {
    const { browser, email } = await signUp(room, 'Lister');
    const phone = room.browser('phone '.repeat(200));
    await signIn(phone, email);
    const { browser: stranger } = await signUp(room, 'Stranger');
    const list = async (of = browser) =>
      (await of.send('GET', '/api/account/sessions')).body as unknown as {
        id: string;
        current: boolean;
        user_agent: string;
        ip_address: string;
      }[];
    const [newest, oldest] = await list();
    assert.deepEqual([newest?.current, oldest?.current], [false, true]);
    assert.equal(newest?.user_agent.length, 500);
    assert.equal(newest?.ip_address, '127.0.0.1');
    const theirs = (await list(stranger))[0]?.id ?? '';
    for (const id of [theirs, randomUUIDv7(), 'not-an-id'])
      assert.equal((await browser.send('DELETE', `/api/account/sessions/${id}`)).status, 404);
    assert.equal((await stranger.send('GET', '/api/session')).status, 200);
    assert.equal((await browser.send('DELETE', `/api/account/sessions/${newest?.id}`)).status, 204);
    assert.equal((await phone.send('GET', '/api/session')).code, 'session_expired');
    assert.equal((await list()).length, 1);
    const own = await browser.send('DELETE', `/api/account/sessions/${oldest?.id}`);
    assert.equal(own.status, 204);
    assert.equal(browser.cookies.size, 0);
  });

  it('ends the session a browser had when it signs in again, and keeps at most fifty per user', async () => {
    const { browser, email, userId } = await signUp(room, 'Again');
    await signIn(browser, email);
    const count = async () =>
      (await room.db.selectFrom('sessions').select('id').where('user_id', '=', userId).execute()).length;
    assert.equal(await count(), 1);
    const { organization_id } = await room.db
      .selectFrom('sessions')
      .select('organization_id')
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow();
    const rows = Array.from({ length: 60 }, (_, index) => ({
      id: randomUUIDv7(),
      user_id: userId,
      organization_id,
      token: randomBytes(32).toString('base64url'),
      // Ten of them have expired.
      expires_at: new Date(Date.now() + (index < 10 ? -1_000 : 60_000)),
    }));
    await room.db.insertInto('sessions').values(rows).execute();
    await signIn(room.browser(), email);
    assert.equal(await count(), 50);
  });

  it('switches to another organization immediately, and only with an active membership', async () => {
    const first = await signUp(room, 'Switcher');
    const second = await signUp(room, 'Host');
    const token = await room.invite(second.organizationId, first.email, 'viewer');
    const joined = await first.browser.send('POST', '/api/invitations/accept', { token });
    assert.equal(joined.status, 201);
    const back = await first.browser.send('PATCH', '/api/session', { org_id: first.organizationId });
    assert.equal(back.status, 200);
    assert.equal(back.body['role'], 'owner');
    const scopes = async () =>
      (await first.browser.send('GET', '/api/relay/capabilities')).body['scopes'] as string[];
    assert.ok((await scopes()).includes('relay:providers:manage'));
    const over = await first.browser.send('PATCH', '/api/session', { org_id: second.organizationId });
    assert.equal(over.body['role'], 'viewer');
    assert.equal((over.body['orgs'] as unknown[]).length, 2);
    assert.ok(!(await scopes()).includes('relay:providers:manage'));
    const third = await signUp(room, 'Elsewhere');
    for (const id of [third.organizationId, randomUUIDv7(), 'not-an-id'])
      assert.equal((await first.browser.send('PATCH', '/api/session', { org_id: id })).code, 'not_found');
  });
});

describe('a self-hosted console', () => {
  let room: ConsoleFixture;
  before(async () => {
    room = await startConsole({ publicUrl: 'https://relay.example.com' });
  });
  after(() => room.close());

  it('lets the operator in with the admin token, as the owner, with every scope', async () => {
    const browser = room.browser();
    const answer = await browser.send('POST', '/api/session', { token: room.adminToken });
    assert.equal(answer.status, 201);
    assert.deepEqual(
      [answer.body['role'], (answer.body['org'] as { id: string }).id],
      ['owner', room.owner.organizationId],
    );
    const { body } = await browser.send('GET', '/api/relay/capabilities');
    assert.deepEqual(body['scopes'], [...allScopes].sort());
    const wrong = await room.browser().send('POST', '/api/session', { token: `${room.adminToken}x` });
    assert.deepEqual([wrong.status, wrong.code], [401, 'invalid_credentials']);
  });

  it('sends its cookie over HTTPS alone', async () => {
    const answer = await room.browser().send('POST', '/api/session', { token: room.adminToken });
    assert.match(answer.setCookies[0] ?? '', /; HttpOnly; SameSite=Lax; Secure$/);
  });

  it('has no sign-up, and members who were invited', async () => {
    const refused = await room.browser().send('POST', '/api/signup', {
      name: 'Ada',
      email: 'ada@example.com',
      password: PASSWORD,
      organization_name: 'Ada Inc',
    });
    assert.deepEqual([refused.status, refused.code], [403, 'mode_unsupported']);
    const { email } = await join(room, room.owner.organizationId, 'Member');
    assert.equal((await signIn(room.browser(), email)).status, 201);
  });

  it('ends sessions of the admin token when the token is replaced, and no others', async () => {
    const browser = room.browser();
    await browser.send('POST', '/api/session', { token: room.adminToken });
    const member = await join(room, room.owner.organizationId, 'Steady');
    // What a process with another token stores.
    await room.db
      .updateTable('sessions')
      .set({ admin_token_digest: randomBytes(32).toString('base64url') })
      .where('user_id', '=', room.owner.userId)
      .execute();
    assert.equal((await browser.send('GET', '/api/session')).code, 'session_expired');
    assert.equal((await member.browser.send('GET', '/api/session')).status, 200);
    const anew = room.browser();
    await anew.send('POST', '/api/session', { token: room.adminToken });
    const { body } = await anew.send('GET', '/api/account/sessions');
    assert.equal((body as unknown as unknown[]).length, 1);
  });
});

describe('a self-hosted console without accounts', () => {
  let room: ConsoleFixture;
  before(async () => {
    room = await startConsole({ accounts: false });
  });
  after(() => room.close());

  it('serves the operator and refuses everything that is about accounts', async () => {
    const browser = room.browser();
    assert.equal((await browser.send('POST', '/api/session', { token: room.adminToken })).status, 201);
    assert.equal((await browser.send('GET', '/api/session')).status, 200);
    assert.equal((await browser.send('GET', '/api/account/sessions')).status, 200);
    const refused = [
      await signIn(browser, 'ada@example.com'),
      await browser.send('PATCH', '/api/session', { org_id: room.owner.organizationId }),
      await browser.send('POST', '/api/invitations/accept', { token: 'x', name: 'x', password: PASSWORD }),
      await browser.send('GET', '/api/sso/start'),
      await browser.send('GET', '/api/sso/callback?code=x&state=y'),
      await browser.send('POST', '/api/account/password', {
        current_password: PASSWORD,
        new_password: `${PASSWORD}!`,
      }),
      await browser.send('POST', '/api/account/email', { email: 'a@example.com', password: PASSWORD }),
      await browser.send('POST', '/api/account/totp', { password: PASSWORD }),
      await browser.send('POST', '/api/account/totp/confirm', { code: '123456' }),
      await browser.send('POST', '/api/account/totp/remove', { password: PASSWORD }),
    ];
    for (const { status, code } of refused) assert.deepEqual([status, code], [403, 'accounts_disabled']);
    assert.equal((await browser.send('DELETE', '/api/session')).status, 204);
  });

  it('does not know sessions of people that were opened while there were accounts', async () => {
    const browser = room.browser();
    await browser.send('POST', '/api/session', { token: room.adminToken });
    await room.db.updateTable('sessions').set({ admin_token_digest: null }).execute();
    assert.equal((await browser.send('GET', '/api/session')).code, 'session_expired');
  });
});
