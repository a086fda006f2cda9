import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ConfigFile } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { sql } from 'kysely';
import { addMember, addOneOfEach, type ManagementFixture, startManagement } from '../fixture.ts';
import { resources } from '../registry/resource-list.ts';

const ACCOUNTS = { mode: 'self_hosted', accounts: true, version: '0.0.0' } as const;
const RULE = { metric: 'tokens', period: 'day', limit_value: 1_000 } as const;

/** Rows by ID, with the noun of their resource. */
type Rows = ReadonlyMap<string, string>;

describe('what a deletion takes along', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, { deployment: ACCOUNTS });
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  async function stored(): Promise<Rows> {
    const rows = new Map<string, string>();
    for (const { noun, table } of resources) {
      const found = await sql<{ id: string }>`select id from ${sql.table(table.name)}
        where organization_id = ${room.acme.organizationId}`.execute(room.db);
      for (const { id } of found.rows) rows.set(id, noun);
    }
    return rows;
  }

  async function deletions(): Promise<Rows> {
    const { body } = await room.call('listAuditLog', room.acme, { query: { limit: 200 } });
    return new Map(
      body.data
        .filter(({ action }) => action.endsWith('.delete'))
        .map(({ action, target_id: id }) => [String(id), action.slice(0, -'.delete'.length)]),
    );
  }

  /** One of each resource, with limits on every one of them, of every kind. */
  async function site() {
    const made = await addOneOfEach(room, room.acme, `Site ${Math.random()}`);
    const { provider, endpoint, lane, credential, membership } = made;
    const member = await addMember(room, room.acme, 'developer');
    const { body: team } = await room.call('createTeam', room.acme, { body: { name: 'Team' } });
    const targets = [
      { target_type: 'global', target_id: null },
      { target_type: 'provider', target_id: provider.id },
      { target_type: 'model', target_id: endpoint.id },
      { target_type: 'lane', target_id: lane.id },
    ] as const;
    for (const target of targets) {
      const rule = { ...RULE, ...target };
      await room.call('upsertUserLimitPolicy', room.acme, { body: { ...rule, user_uuid: member.userId } });
      await room.call('upsertTeamLimitPolicy', room.acme, { body: { ...rule, team_uuid: team.id } });
    }
    for (const [scope_type, { id }] of Object.entries({ provider, credential, lane })) {
      const scope = { scope_type: scope_type as 'provider', scope_id: id };
      await room.call('createLimitPolicy', room.acme, { body: { ...RULE, ...scope } });
    }
    await room.call('deleteMembership', room.acme, { id: membership.id });
    return { ...made, member, team };
  }

  it('is an audit entry of its own for each, whatever is deleted', async () => {
    const { provider, endpoint, lane, member, team } = await site();
    const acts = [
      ['deleteTeam', team.id, 4],
      ['removeMember', member.userId, 4],
      ['deleteLane', lane.id, 1],
      ['deleteEndpoint', endpoint.id, 1],
      ['deleteProvider', provider.id, 2],
    ] as const;
    for (const [route, id, limits] of acts) {
      const beforehand = await stored();
      await room.call(route, room.acme, { id });
      const left = await stored();
      const gone = [...beforehand].filter(([each]) => !left.has(each));
      const taken = gone.filter(([, noun]) => noun.endsWith('limit_policy'));
      assert.ok(taken.length >= limits, `${route} took ${taken.length} limits`);
      const said = await deletions();
      assert.deepEqual(
        gone.filter(([each, noun]) => said.get(each) !== noun),
        [],
        `${route} deleted these without an entry`,
      );
    }
  });

  it('is said by the plan that deletes, and recorded by the apply', async () => {
    const { lane, member } = await site();
    const file = { version: 1, lanes: [{ name: lane.name, slug: lane.slug }] } satisfies ConfigFile;
    await room.call('applyConfig', room.acme, { body: { config: file } });
    const [shared] = (await room.call('listLimitPolicies', room.acme)).body.filter(
      ({ scope_id: id }) => id === lane.id,
    );
    await room.call('deleteLimitPolicy', room.acme, { id: shared?.id ?? '' });
    const prune = { config: { version: 1, lanes: [] }, prune: true } satisfies {
      config: ConfigFile;
      prune: true;
    };
    const planned = (await room.call('planConfig', room.acme, { body: prune })).body;
    assert.deepEqual(
      planned.deleted_limits.map(({ policy_kind, scope_id }) => [policy_kind, scope_id]),
      [
        ['user', lane.id],
        ['team', lane.id],
      ],
    );
    assert.equal(planned.deleted_limits[0]?.subject_id, member.userId);
    const applied = (await room.call('applyConfig', room.acme, { body: prune })).body;
    assert.deepEqual(applied.deleted_limits, planned.deleted_limits);
    const said = await deletions();
    for (const { policy_id: id } of planned.deleted_limits) assert.match(said.get(id) ?? '', /limit_policy$/);
  });
});
