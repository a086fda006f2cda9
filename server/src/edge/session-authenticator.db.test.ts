import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { rolePermissions } from '../domain/access.ts';
import { changeAccess } from '../store/configuration/config-version.ts';
import { type Browser, type ConsoleFixture, join, signUp, startConsole } from './identity/fixture.ts';

describe('the authenticator of browser sessions', () => {
  let room: ConsoleFixture;
  let browser: Browser;
  let organizationId: string;
  before(async () => {
    room = await startConsole({ mode: 'hosted' });
    ({ browser, organizationId } = await signUp(room, 'Ada'));
    await room.db
      .updateTable('organizations')
      .set({ plan: 'team' })
      .where('id', '=', organizationId)
      .execute();
  });
  after(() => room.close());

  const write = (headers: Record<string, string> = {}, of = browser) =>
    of.send('PATCH', '/api/session', { org_id: organizationId }, headers);
  const read = (headers: Record<string, string> = {}, of = browser) =>
    of.send('GET', '/api/session', undefined, headers);

  /** As in management: commit, then raise the fence. */
  async function changeMember(userId: string, change: object): Promise<void> {
    const { version } = await changeAccess(room.db, organizationId, async (tx) => {
      await tx
        .updateTable('organization_members')
        .set(change)
        .where('organization_id', '=', organizationId)
        .where('user_id', '=', userId)
        .execute();
      return { result: undefined, keyIds: [] };
    });
    await room.raiseFence(organizationId, version);
  }

  it('lets a write in with the token of this very session, and no other write', async () => {
    assert.equal((await write()).status, 200);
    const other = await signUp(room, 'Other');
    const token = browser.csrfToken;
    for (const sent of ['', 'x', token.slice(1), `${token}x`, other.browser.csrfToken]) {
      const { status, code } = await write({ 'x-csrf-token': sent });
      assert.deepEqual([status, code], [403, 'csrf_failed'], sent);
    }
    const without = room.browser();
    without.cookies.set('relay_session', browser.cookies.get('relay_session') ?? '');
    assert.equal((await write({}, without)).code, 'csrf_failed');
    assert.equal((await read({}, without)).status, 200);
  });

  it('refuses writes from pages of other sites although they have the token', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1', `${room.url}.evil.example`]) {
      const { status, code } = await write({ origin });
      assert.deepEqual([status, code], [403, 'csrf_failed'], origin);
    }
    assert.equal((await write({ origin: room.url })).status, 200);
    assert.equal((await read({ origin: 'https://evil.example' })).status, 200);
  });

  it('keeps other sites from signing anybody in or up', async () => {
    const origin = 'https://evil.example';
    for (const path of ['/api/session', '/api/signup', '/api/invitations/accept']) {
      const body = {
        '/api/session': { email: 'ada@example.com', password: 'x' },
        '/api/signup': {
          name: 'x',
          email: 'x@example.com',
          password: 'twelve characters',
          organization_name: 'x',
        },
        '/api/invitations/accept': { token: 'x' },
      }[path];
      assert.equal((await room.browser().send('POST', path, body, { origin })).code, 'csrf_failed', path);
    }
  });

  it('opens to nothing that only looks like a cookie', async () => {
    const real = browser.cookies.get('relay_session') ?? '';
    const wrong = ['', 'x', real.slice(1), `${real}x`, real.replace(/.$/, real.endsWith('A') ? 'B' : 'A')];
    for (const value of [...wrong, '%00', "' or 1=1 --"]) {
      const thief = room.browser();
      thief.cookies.set('relay_session', value);
      const { status, code } = await read({}, thief);
      assert.deepEqual([status, code], [401, 'session_expired'], value);
    }
  });

  it('gives a member what the role and the plan allow now, whatever they were before', async () => {
    const { browser: member, userId } = await join(room, organizationId, 'Member', 'admin');
    const scopes = async () => (await member.send('GET', '/api/relay/capabilities')).body['scopes'];
    assert.deepEqual(await scopes(), [...rolePermissions.admin].sort());
    await changeMember(userId, { role: 'billing' });
    assert.deepEqual(await scopes(), [...rolePermissions.billing].sort());
    await changeMember(userId, { role: 'developer' });
    assert.deepEqual(await scopes(), [...rolePermissions.developer].sort());
  });

  it('shuts on the next request when a member is suspended, and opens when they are back', async () => {
    const { browser: member, userId } = await join(room, organizationId, 'Suspended');
    await changeMember(userId, { status: 'suspended' });
    const list = () => member.send('GET', '/api/account/sessions');
    const { status, code } = await list();
    assert.deepEqual([status, code], [403, 'permission_denied']);
    await changeMember(userId, { status: 'active' });
    assert.equal((await list()).status, 200);
    await room.db.updateTable('users').set({ status: 'suspended' }).where('id', '=', userId).execute();
    assert.equal((await list()).code, 'permission_denied');
    assert.equal((await read({}, member)).body['suspended'], true);
    assert.equal((await member.send('DELETE', '/api/session')).status, 204);
  });

  it('rejects the session of a removed member', async () => {
    const { browser: member, userId } = await join(room, organizationId, 'Removed');
    await room.db
      .deleteFrom('organization_members')
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', userId)
      .execute();
    assert.equal((await read({}, member)).code, 'session_expired');
  });

  it('knows no session after its time', async () => {
    const { browser: late, userId } = await join(room, organizationId, 'Late');
    assert.equal((await read({}, late)).status, 200);
    await room.db
      .updateTable('sessions')
      .set({ expires_at: new Date(Date.now() - 1) })
      .where('user_id', '=', userId)
      .execute();
    assert.equal((await read({}, late)).code, 'session_expired');
  });
});
