import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { allScopes, type OrgApiKeyCreate, type Scope } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { effectiveScopes } from '../../domain/access.ts';
import type { Caller } from '../../domain/caller.ts';
import { addMember, asKey, type ManagementFixture, onPlan, refusal, startManagement } from '../fixture.ts';

const deployment = { mode: 'hosted', accounts: true, version: '1.0.0' } as const;

describe('the API keys of an organization', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let owner: Caller;
  let admin: Caller;
  let developer: Caller;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, { deployment });
    owner = await addMember(room, room.acme, 'owner');
    admin = await addMember(room, room.acme, 'admin');
    developer = await addMember(room, room.acme, 'developer');
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const own = async (caller: Caller, scopes: Scope[] = ['relay:request']) =>
    (await room.call('createApiKey', caller, { body: { name: 'own', scopes } })).body.key;
  const create = async (caller: Caller, member: Caller | string, body: Partial<OrgApiKeyCreate> = {}) => {
    const user_uuid = typeof member === 'string' ? member : member.userId;
    const whole = { user_uuid, name: 'for a member', scopes: ['relay:request'], ...body };
    return (await room.call('createOrgApiKey', caller, { body: whole })).body;
  };
  const list = async (caller: Caller) => (await room.call('listOrgApiKeys', caller)).body;

  it('are listed whoever owns them, and those of another organization are not', async () => {
    const ours = [await own(owner), await own(developer)];
    const theirs = await own(room.globex);
    const seen = await list(admin);
    for (const key of ours)
      assert.deepEqual(
        seen.find(({ id }) => id === key.id),
        key,
      );
    assert.ok(seen.every(({ id }) => id !== theirs.id));
    assert.deepEqual(await list(room.globex), [theirs]);
  });

  it('are created for another member, who then owns them', async () => {
    const { api_key, key } = await create(admin, developer);
    assert.deepEqual(
      [key.user_uuid, key.status, key.scopes],
      [developer.userId, 'active', ['relay:request']],
    );
    assert.ok(api_key.startsWith(key.key_prefix));
    const { body } = await room.call('listApiKeys', developer);
    assert.ok(body.api_keys.some(({ id }) => id === key.id));
    await room.call('revokeApiKey', developer, { id: key.id });
  });

  it('are created by a key only if it carries all current permissions of its owner', async () => {
    const { key } = await create(asKey(admin, allScopes), developer);
    assert.equal(key.user_uuid, developer.userId);
    const narrow = allScopes.filter((scope) => scope !== 'relay:guardrails:manage');
    await assert.rejects(
      create(asKey(admin, narrow), developer),
      refusal(
        'permission_denied',
        undefined,
        /all of its owner’s current permissions, .* lacks relay:guardrails:manage/,
      ),
    );
    // The key need not have permissions that the plan withholds.
    const free = await onPlan(room, admin, 'free');
    await create(asKey(free, [...effectiveScopes({ ...free.access, granted: null })]), developer);
    await onPlan(room, admin, 'enterprise');
  });

  it('never hold more than the member they are for may do', async () => {
    const denied = refusal('permission_denied', 'scopes', /"developer" does not allow .*members:manage/);
    await assert.rejects(create(owner, developer, { scopes: ['cloud:members:manage'] }), denied);
    const viewer = await addMember(room, room.acme, 'viewer');
    const cannot = refusal('permission_denied', 'scopes', /"viewer" does not allow relay:request/);
    await assert.rejects(create(owner, viewer), cannot);
  });

  it('never hold more than whoever creates them may do at that moment', async () => {
    const demoted = await addMember(room, room.acme, 'admin');
    await room.db
      .updateTable('organization_members')
      .set({ role: 'viewer' })
      .where('user_id', '=', demoted.userId)
      .execute();
    await assert.rejects(
      create(demoted, developer),
      refusal('permission_denied', 'scopes', /"viewer" does not allow relay:request/),
    );
  });

  it('of an owner are created by owners alone: with one, an admin would be an owner', async () => {
    await assert.rejects(create(admin, owner), refusal('permission_denied', 'user_uuid'));
    await assert.rejects(create(asKey(admin, allScopes), owner), refusal('permission_denied', 'user_uuid'));
    assert.equal((await create(room.acme, owner)).key.user_uuid, owner.userId);
  });

  it('need a member who is there and active, named by the field when not', async () => {
    const suspended = await addMember(room, room.acme, 'developer');
    await room.db
      .updateTable('organization_members')
      .set({ status: 'suspended' })
      .where('user_id', '=', suspended.userId)
      .execute();
    await assert.rejects(create(owner, suspended), refusal('invalid_request', 'user_uuid', /suspended/));
    for (const user_uuid of [room.globex.userId, randomUUIDv7(), 'no id'])
      await assert.rejects(create(owner, user_uuid), refusal('not_found', 'user_uuid', /no such member/));
  });

  it('take the same checks of scopes and expiry as own ones', async () => {
    await assert.rejects(
      create(owner, developer, { scopes: ['nothing'] }),
      refusal('invalid_request', 'scopes'),
    );
    const expires_at = '2001-01-01T00:00:00.000Z';
    await assert.rejects(create(owner, developer, { expires_at }), refusal('invalid_request', 'expires_at'));
    const { key } = await create(owner, developer, { scopes: ['relay:routing:manage'] });
    assert.deepEqual(key.scopes, ['relay:routing:read', 'relay:routing:manage']);
  });

  it('stay as they are when a change names no field, and nothing is audited', async () => {
    const { key } = await create(admin, developer);
    const newest = async () => (await room.call('listAuditLog', owner, { query: { limit: 1 } })).body.data;
    const before = await newest();
    const { body } = await room.call('updateOrgApiKey', admin, { id: key.id, body: {} });
    assert.deepEqual([body, await newest()], [key, before]);
  });

  it('are revoked by whoever may, fenced before the answer, and again without effect', async () => {
    const key = await own(owner);
    const { requestId } = await room.call('revokeOrgApiKey', admin, { id: key.id });
    const row = await room.db
      .selectFrom('api_keys')
      .selectAll()
      .where('id', '=', key.id)
      .executeTakeFirstOrThrow();
    assert.ok(row.revoked_at);
    const fence = { organizationId: admin.organizationId, version: row.changed_version };
    assert.deepEqual(room.raised.at(-1), fence);
    const [entry] = await room.db
      .selectFrom('audit_log')
      .selectAll()
      .where('request_id', '=', requestId)
      .execute();
    assert.deepEqual(
      [entry?.action, entry?.target_id, entry?.actor_type, entry?.actor_user_id],
      ['api_key.revoke', key.id, 'user', admin.userId],
    );
    await room.call('revokeOrgApiKey', owner, { id: key.id });
    assert.equal((await list(owner)).find(({ id }) => id === key.id)?.status, 'revoked');
  });

  it('of another organization cannot be revoked, nor what is no key', async () => {
    const theirs = await own(room.globex);
    const raisedBefore = room.raised.length;
    for (const id of [theirs.id, randomUUIDv7(), 'no id'])
      await assert.rejects(room.call('revokeOrgApiKey', owner, { id }), refusal('not_found'));
    assert.equal((await list(room.globex)).find(({ id }) => id === theirs.id)?.status, 'active');
    assert.equal(room.raised.length, raisedBefore);
  });

  it('come in pages of a thousand when no limit is sent', async () => {
    const organization_id = room.globex.organizationId;
    const user_id = room.globex.userId;
    const secret_hmac = Buffer.alloc(32);
    const rows = Array.from({ length: 1_001 }, (_, index) => ({
      organization_id,
      id: randomUUIDv7(),
      user_id,
      name: `key ${index}`,
      public_id: String(index).padStart(10, '0'),
      secret_hmac,
      scopes: ['relay:request'],
    }));
    await room.db.insertInto('api_keys').values(rows).execute();
    const first = await room.call('listOrgApiKeys', room.globex);
    assert.equal(first.body.length, 1_000);
    const cursor = first.headers.get('X-Next-Cursor') ?? '';
    assert.equal(first.headers.get('Link'), `</api/org/api-keys?limit=1000&cursor=${cursor}>; rel="next"`);
    const second = await room.call('listOrgApiKeys', room.globex, { query: { cursor } });
    assert.equal(second.headers.size, 0);
    const ids = [...first.body, ...second.body].map(({ id }) => id);
    assert.deepEqual(ids, [...new Set(ids)].sort());
    assert.ok(rows.every(({ id }) => ids.includes(id)));
  });
});
