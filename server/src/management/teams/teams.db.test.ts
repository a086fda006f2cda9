import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { ApiKeyCreate, Team, TeamCreate, TeamLimitPolicy, TeamLimitPolicyUpsert } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import type { Caller } from '../../domain/caller.ts';
import { addMember, type ManagementFixture, refusal, startManagement } from '../fixture.ts';

const WITH_ACCOUNTS = { mode: 'hosted', accounts: true, version: '0.0.0' } as const;

describe('teams', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, { deployment: WITH_ACCOUNTS });
    await room.snapshots.load(room.acme.organizationId);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const made = async (over: Partial<TeamCreate> = {}, caller = room.acme): Promise<Team> =>
    (await room.call('createTeam', caller, { body: { name: 'Search', ...over } })).body;
  const snapshot = () => {
    const known = room.snapshots.get(room.acme.organizationId);
    assert.ok(known);
    return known;
  };
  const newKey = async (caller: Caller, over: Partial<ApiKeyCreate> = {}) =>
    (await room.call('createApiKey', caller, { body: { name: 'k', scopes: ['relay:request'], ...over } }))
      .body.key;

  it('are created, read, changed and listed, and reach the snapshot', async () => {
    const team = await made({ name: 'Ads', kind: 'cost_center' });
    assert.deepEqual(team, {
      id: team.id,
      name: 'Ads',
      slug: 'ads',
      kind: 'cost_center',
      parent_id: null,
      created_at: team.created_at,
    });
    const id = team.id;
    const { body } = await room.call('updateTeam', room.acme, {
      id,
      body: { name: 'Adverts', kind: 'project' },
    });
    assert.deepEqual(body, { ...team, name: 'Adverts', kind: 'project' });
    assert.deepEqual((await room.call('getTeam', room.acme, { id })).body, body);
    assert.ok((await room.call('listTeams', room.acme)).body.some((each) => each.id === id));
    assert.deepEqual(snapshot().teams.get(id), { id, parentId: null });
  });

  it('are nested one level deep, from either side', async () => {
    const company = await made({ name: 'Company' });
    const child = await made({ name: 'Child', parent_id: company.id });
    assert.equal(child.parent_id, company.id);
    const nested = (id: string, parent_id: string) =>
      room.call('updateTeam', room.acme, { id, body: { name: 'x', kind: 'team', parent_id } });
    await assert.rejects(made({ parent_id: child.id }), refusal('invalid_request', 'parent_id'));
    await assert.rejects(nested(company.id, (await made()).id), refusal('invalid_request', 'parent_id'));
    await assert.rejects(nested(child.id, child.id), refusal('invalid_request', 'parent_id'));
    await assert.rejects(made({ parent_id: randomUUIDv7() }), refusal('not_found', 'parent_id'));
    const foreign = await made({}, room.globex);
    await assert.rejects(made({ parent_id: foreign.id }), refusal('not_found', 'parent_id'));
  });

  it('leave keys, members and child teams behind when they are deleted, and take their budgets along', async () => {
    const team = await made({ name: 'Gone' });
    const child = await made({ name: 'Left', parent_id: team.id });
    const key = await newKey(room.acme, { team_id: team.id });
    const member = await addMember(room, room.acme, 'developer');
    await room.call('updateMember', room.acme, { id: member.userId, body: { team_id: team.id } });
    await room.call('upsertTeamLimitPolicy', room.acme, { body: budgetOf(team) });
    assert.equal(snapshot().members.get(member.userId)?.teamId, team.id);
    await room.call('deleteTeam', room.acme, { id: team.id });
    const keys = (await room.call('listApiKeys', room.acme)).body.api_keys;
    assert.equal(keys.find(({ id }) => id === key.id)?.team_id, null);
    assert.equal((await room.call('getTeam', room.acme, { id: child.id })).body.parent_id, null);
    assert.deepEqual(await budgetsOf(team), []);
    assert.equal(snapshot().members.get(member.userId)?.teamId, null);
    assert.equal(snapshot().teamPolicies.has(team.id), false);
  });

  const budgetOf = (team: Team, over: Partial<TeamLimitPolicyUpsert> = {}): TeamLimitPolicyUpsert => ({
    team_uuid: team.id,
    target_type: 'global',
    metric: 'spend',
    period: 'week',
    limit_value: 1_000,
    ...over,
  });
  const budgetsOf = async ({ id }: Team): Promise<TeamLimitPolicy[]> =>
    (await room.call('listTeamLimitPolicies', room.acme, { query: { team_uuid: id } })).body.policies;

  it('have budgets of the shape that members have, one for each target, metric and period', async () => {
    const team = await made();
    await room.call('upsertTeamLimitPolicy', room.acme, { body: budgetOf(team) });
    const [budget] = await budgetsOf(team);
    assert.ok(budget);
    assert.deepEqual(budget, {
      id: budget.limit_uuid,
      limit_uuid: budget.id,
      ...budgetOf(team),
      target_id: null,
      unpriced: 'refuse',
      enforcement: 'estimate',
      enabled: true,
      alert_at: [],
      alert_on_forecast: false,
      etag: '"1"',
    });
    assert.deepEqual(
      snapshot()
        .teamPolicies.get(team.id)
        ?.map(({ id, kind, period }) => [id, kind, period]),
      [[budget.id, 'team', 'week']],
    );
    const again = room.call('upsertTeamLimitPolicy', room.acme, { body: budgetOf(team) });
    await assert.rejects(again, refusal('conflict', 'limit_uuid'));
    const changed = { ...budgetOf(team), limit_uuid: budget.id, limit_value: 5 };
    await room.call('upsertTeamLimitPolicy', room.acme, { body: changed });
    assert.equal((await budgetsOf(team))[0]?.limit_value, 5);
    await room.call('deleteTeamLimitPolicy', room.acme, { query: { limit_uuid: budget.id } });
    assert.deepEqual(await budgetsOf(team), []);
    const unknown = budgetOf({ ...team, id: randomUUIDv7() });
    await assert.rejects(
      room.call('upsertTeamLimitPolicy', room.acme, { body: unknown }),
      refusal('not_found', 'team_uuid'),
    );
  });

  it('are chosen for a key by who manages limits; others get the team of the owner', async () => {
    const [own, other] = [await made({ name: 'Own' }), await made({ name: 'Other' })];
    const member = await addMember(room, room.acme, 'developer');
    await assert.rejects(newKey(member, { team_id: own.id }), refusal('permission_denied', 'team_id'));
    await room.call('updateMember', room.acme, { id: member.userId, body: { team_id: own.id } });
    const key = await newKey(member, { team_id: own.id });
    const move = (team_id: string | null, caller = member) =>
      room.call('renameApiKey', caller, { id: key.id, body: { name: 'k', team_id } });
    await assert.rejects(move(other.id), refusal('permission_denied', 'team_id'));
    await assert.rejects(move(null), refusal('permission_denied', 'team_id'));
    const { body } = await room.call('updateOrgApiKey', room.acme, {
      id: key.id,
      body: { team_id: other.id, labels: { app: 'search' } },
    });
    assert.deepEqual([body.team_id, body.labels, body.name], [other.id, { app: 'search' }, 'k']);
    await assert.rejects(newKey(room.acme, { team_id: randomUUIDv7() }), refusal('not_found', 'team_id'));
  });

  it('go with labels on keys, which are few, short and printable', async () => {
    const key = await newKey(room.acme, { labels: { app: 'search', 'cost.center': 'Größe 7' } });
    assert.deepEqual(key.labels, { app: 'search', 'cost.center': 'Größe 7' });
    const bad: [Record<string, string>, string][] = [
      [{ App: 'x' }, 'labels'],
      [{ ['a'.repeat(33)]: 'x' }, 'labels'],
      [{ app: '' }, 'labels.app'],
      [{ app: 'x'.repeat(65) }, 'labels.app'],
      [{ app: 'a\nb' }, 'labels.app'],
      [Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`k${index}`, 'ö'.repeat(64)])), 'labels'],
    ];
    for (const [labels, param] of bad)
      await assert.rejects(newKey(room.acme, { labels }), refusal('invalid_request', param));
  });
});
