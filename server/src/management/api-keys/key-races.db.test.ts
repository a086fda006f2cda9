import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { plans } from '../../domain/access.ts';
import type { Caller } from '../../domain/caller.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { addMember, type ManagementFixture, onPlan, refusal, startManagement } from '../fixture.ts';

const deployment = { mode: 'hosted', accounts: true, version: '1.0.0' } as const;
const body = { name: 'raced', scopes: ['relay:request'] };

describe('API keys changed at the same moment', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  /** The highest version raised for each organization. */
  const fenced = new Map<string, number>();
  let redisAway = false;

  before(async () => {
    database = await freshDatabase();
    const raise = async (organizationId: string, version: number) => {
      if (redisAway) throw new RelayError('store_unavailable');
      fenced.set(organizationId, Math.max(version, fenced.get(organizationId) ?? 0));
    };
    room = await startManagement(database.url, { deployment, fences: { raise } });
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const create = async (caller: Caller) => (await room.call('createApiKey', caller, { body })).body.key;
  const list = async (caller: Caller) => (await room.call('listOrgApiKeys', caller)).body;
  const rowOf = (id: string) =>
    room.db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const entriesOf = async (id: string) => {
    const rows = await room.db.selectFrom('audit_log').select('action').where('target_id', '=', id).execute();
    return rows.map(({ action }) => action).sort();
  };

  it('never become more than the plan includes, whoever creates them for whom', async () => {
    const owner = await onPlan(room, room.globex, 'free');
    const developer = await addMember(room, owner, 'developer');
    const keysMax = plans.free.counts.api_keys ?? 0;
    const made = await Promise.allSettled(
      Array.from({ length: 3 * keysMax }, (_, index) => {
        if (index % 3 === 0) return room.call('createApiKey', owner, { body });
        if (index % 3 === 1) return room.call('createApiKey', developer, { body });
        const forMember = { ...body, user_uuid: developer.userId };
        return room.call('createOrgApiKey', owner, { body: forMember });
      }),
    );
    const refused = made.filter((result) => result.status === 'rejected');
    assert.equal(made.length - refused.length, keysMax);
    for (const { reason } of refused)
      refusal('entitlement_missing', undefined, new RegExp(`\\b${keysMax} API keys`))(reason);
    assert.equal((await list(owner)).length, keysMax);
  });

  it('give their place back when revoked or expired', async () => {
    const owner = room.globex;
    const full = refusal('entitlement_missing');
    const [first, second] = await list(owner);
    assert.ok(first && second);
    await assert.rejects(create(owner), full);
    await room.call('revokeOrgApiKey', owner, { id: first.id });
    await create(owner);
    await assert.rejects(create(owner), full);
    const expires_at = new Date(Date.now() - 1);
    await room.db.updateTable('api_keys').set({ expires_at }).where('id', '=', second.id).execute();
    await create(owner);
    await assert.rejects(create(owner), full);
    // Other organizations can still create keys.
    await create(room.acme);
  });

  it('are revoked once, and no revocation is answered before the fence stands', async () => {
    const { id } = await create(room.acme);
    fenced.clear();
    const answers = Array.from({ length: 10 }, async (_, index) => {
      await room.call(index % 2 === 0 ? 'revokeApiKey' : 'revokeOrgApiKey', room.acme, { id });
      return { fence: fenced.get(room.acme.organizationId) ?? 0, row: await rowOf(id) };
    });
    const revokedAt = new Set<number>();
    for (const { fence, row } of await Promise.all(answers)) {
      assert.ok(row.revoked_at && fence > 0);
      revokedAt.add(row.revoked_at.getTime());
    }
    assert.equal(revokedAt.size, 1);
    assert.ok((fenced.get(room.acme.organizationId) ?? 0) >= (await rowOf(id)).changed_version);
    assert.deepEqual(await entriesOf(id), ['api_key.create', 'api_key.revoke']);
  });

  it('keep both changes when one call renames and another revokes', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await create(room.acme);
      await Promise.all([
        room.call('renameApiKey', room.acme, { id, body: { name: 'renamed' } }),
        room.call('revokeApiKey', room.acme, { id }),
        room.call('createLane', room.acme, { body: { name: 'Meanwhile', takes_over: true } }),
      ]);
      const row = await rowOf(id);
      assert.deepEqual([row.name, row.revoked_at === null], ['renamed', false]);
      assert.deepEqual(await entriesOf(id), ['api_key.create', 'api_key.rename', 'api_key.revoke']);
    }
  });

  it('are changed beside their owner and the organization, and nobody waits in a circle', async () => {
    const developer = await addMember(room, room.acme, 'developer');
    const forMember = { ...body, user_uuid: developer.userId };
    for (let round = 0; round < 60; round += 1) {
      const { key } = (await room.call('createOrgApiKey', room.acme, { body: forMember })).body;
      const { id } = key;
      await Promise.all([
        room.call('updateOrgApiKey', room.acme, { id, body: { labels: { round: String(round) } } }),
        room.call('updateOrg', room.acme, { body: { name: `Acme ${round}` } }),
        room.call('updateMember', room.acme, {
          id: developer.userId,
          body: { role: round % 2 === 0 ? 'admin' : 'developer' },
        }),
        room.call('revokeOrgApiKey', room.acme, { id }),
        room.call('createLane', room.acme, { body: { name: 'Meanwhile', takes_over: true } }),
      ]);
    }
  });

  it('are changed while they move into a team that is being deleted, and nobody waits in a circle', async () => {
    const { id } = await create(room.acme);
    const change = (body: object) => room.call('updateOrgApiKey', room.acme, { id, body });
    for (let round = 0; round < 40; round += 1) {
      const team = (await room.call('createTeam', room.acme, { body: { name: 'Short-lived' } })).body;
      const [moved, ...others] = await Promise.allSettled([
        change({ team_id: team.id }),
        change({ labels: { round: String(round) } }),
        change({ labels: {} }),
        room.call('deleteTeam', room.acme, { id: team.id }),
      ]);
      for (const other of others) assert.ifError(other.status === 'rejected' ? other.reason : null);
      // The team may have been deleted first.
      if (moved.status === 'rejected') refusal('not_found', 'team_id')(moved.reason);
      assert.equal((await rowOf(id)).team_id, null);
    }
  });

  it('whose fence could not be raised are revoked, answered 503, and fenced when asked again', async () => {
    const { id } = await create(room.acme);
    redisAway = true;
    const revoke = () => room.call('revokeApiKey', room.acme, { id });
    await assert.rejects(revoke(), refusal('store_unavailable'));
    const { revoked_at, changed_version } = await rowOf(id);
    assert.ok(revoked_at);
    await assert.rejects(revoke(), refusal('store_unavailable'));
    assert.ok((fenced.get(room.acme.organizationId) ?? 0) < changed_version);
    redisAway = false;
    await revoke();
    assert.equal(fenced.get(room.acme.organizationId), changed_version);
  });
});
