import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ApiKeyCreate, allScopes, expandScopes, type Scope } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { rolePermissions } from '../../domain/access.ts';
import type { Caller } from '../../domain/caller.ts';
import { addMember, asKey, type ManagementFixture, onPlan, refusal, startManagement } from '../fixture.ts';

const deployment = { mode: 'self_hosted', accounts: true, version: '1.0.0' } as const;
const request: ApiKeyCreate = { name: 'batch', scopes: ['relay:request'] };

describe('API keys', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, { deployment });
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const create = async (caller: Caller, body: Partial<ApiKeyCreate> = {}) =>
    (await room.call('createApiKey', caller, { body: { ...request, ...body } })).body;
  const scopes = async (caller: Caller) => (await room.call('listApiKeyScopes', caller)).body.scopes;

  it('with a manage scope list the read scope beside it', async () => {
    const { key } = await create(room.acme, { scopes: ['relay:providers:manage'] });
    assert.deepEqual(key.scopes, ['relay:providers:read', 'relay:providers:manage']);
    const { key: many } = await create(room.acme, {
      scopes: ['relay:limits:manage', 'relay:request', 'relay:request'],
    });
    assert.deepEqual(many.scopes, ['relay:request', 'relay:limits:read:organization', 'relay:limits:manage']);
  });

  it('refuse scopes that do not exist, by name and with where to look', async () => {
    await assert.rejects(
      create(room.acme, { scopes: ['relay:request', 'relay:everything', 'toString'] }),
      refusal('invalid_request', 'scopes', /"relay:everything", "toString".*api-key-scopes/),
    );
    await assert.rejects(
      create(room.acme, { scopes: ['x'.repeat(10_000)] }),
      (error: Error) =>
        refusal('invalid_request', 'scopes')(error) && assert.ok(error.message.length < 300) === undefined,
    );
  });

  it('made by a key never hold more than that key', async () => {
    const narrow = asKey(room.acme, ['cloud:account:manage', 'relay:providers:read']);
    const { key } = await create(narrow, { scopes: ['relay:providers:read'] });
    assert.deepEqual([key.user_uuid, key.scopes], [room.acme.userId, ['relay:providers:read']]);
    await assert.rejects(
      create(narrow, { scopes: ['cloud:account:manage', 'relay:request', 'relay:limits:manage'] }),
      refusal(
        'permission_denied',
        'scopes',
        /relay:request, relay:limits:read.*relay:limits:manage.*broader/,
      ),
    );
    // The key holds the read scope, but not the manage scope that implies it.
    await assert.rejects(
      create(narrow, { scopes: ['relay:providers:manage'] }),
      refusal('permission_denied', 'scopes', /lacks relay:providers:manage,/),
    );
  });

  it('never hold more than the role of their owner permits at that moment', async () => {
    const developer = await addMember(room, room.acme, 'developer');
    await create(developer, { scopes: [...rolePermissions.developer] });
    const denied = refusal('permission_denied', 'scopes', /"developer" does not allow .*limits:manage/);
    await assert.rejects(create(developer, { scopes: ['relay:limits:manage'] }), denied);

    // The caller was authenticated as an admin, and the role changed afterwards.
    const admin = await addMember(room, room.acme, 'admin');
    await create(asKey(admin, allScopes), { scopes: ['relay:limits:manage'] });
    await room.db
      .updateTable('organization_members')
      .set({ role: 'developer' })
      .where('user_id', '=', admin.userId)
      .execute();
    for (const caller of [admin, asKey(admin, allScopes)])
      await assert.rejects(create(caller, { scopes: ['relay:limits:manage'] }), denied);
  });

  it('are not created for somebody who is no longer an active member', async () => {
    for (const change of ['suspended member', 'suspended user', 'removed'] as const) {
      const gone = await addMember(room, room.acme, 'developer');
      if (change === 'suspended user')
        await room.db
          .updateTable('users')
          .set({ status: 'suspended' })
          .where('id', '=', gone.userId)
          .execute();
      if (change === 'suspended member')
        await room.db
          .updateTable('organization_members')
          .set({ status: 'suspended' })
          .where('user_id', '=', gone.userId)
          .execute();
      if (change === 'removed')
        await room.db.deleteFrom('organization_members').where('user_id', '=', gone.userId).execute();
      await assert.rejects(create(gone), refusal('permission_denied'));
      await assert.rejects(scopes(gone), refusal('permission_denied'));
    }
  });

  it('never hold what the plan does not include', async () => {
    const free = await onPlan(room, room.globex, 'free');
    const missing = refusal('entitlement_missing', 'scopes', /cloud:audit:read/);
    await assert.rejects(create(free, { scopes: ['relay:request', 'cloud:audit:read'] }), missing);
    const closed = await onPlan(room, room.globex, 'closed');
    await assert.rejects(create(closed), refusal('product_access_denied', 'scopes', /relay:request/));
    await create(closed, { scopes: ['cloud:billing:read'] });
    await onPlan(room, room.globex, 'self_hosted');
  });

  it('may hold the scopes that are listed: those of the owner and of the calling key', async () => {
    const developer = await addMember(room, room.acme, 'developer');
    const ofDeveloper = allScopes.filter((scope) => rolePermissions.developer.has(scope));
    assert.deepEqual(await scopes(developer), ofDeveloper);
    const key = asKey(developer, ['relay:request', 'relay:limits:manage', 'cloud:account:manage']);
    assert.deepEqual(await scopes(key), ['relay:request', 'cloud:account:manage']);
    // The admin token cannot send inference requests, but the owner it acts for may create keys that can.
    const administration = new Set<Scope>(allScopes.filter((scope) => scope !== 'relay:request'));
    const access = { ...room.acme.access, permissions: administration };
    const token = { ...room.acme, scopes: administration, access };
    assert.deepEqual(await scopes(token), allScopes);
    await create(token);
    const free = await onPlan(room, room.globex, 'free');
    assert.ok(!(await scopes(free)).includes('cloud:audit:read'));
    await onPlan(room, room.globex, 'self_hosted');
  });

  it('may be given every list that the scopes route answers', async () => {
    for (const role of ['owner', 'admin', 'developer', 'viewer', 'billing'] as const) {
      const member = await addMember(room, room.acme, role);
      const permitted = await scopes(member);
      const { key } = await create(member, { scopes: permitted });
      assert.deepEqual(key.scopes, permitted);
      assert.deepEqual(expandScopes(permitted as Scope[]), permitted);
    }
  });
});
