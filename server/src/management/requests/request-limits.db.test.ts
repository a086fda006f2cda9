import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { LimitPolicyCreate } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import type { Caller } from '../../domain/caller.ts';
import type { StoredAttempt, StoredBoundPolicy } from '../../store/ledger/ledger-json.ts';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import {
  addMember,
  addOneOfEach,
  asKey,
  type ManagementFixture,
  refusal,
  startManagement,
} from '../fixture.ts';
import { idAt, recordRequests } from './ledger.fixture.ts';

const WHOLE = { unpriced: 'refuse', enforcement: 'estimate', enabled: true } as const;
const DAILY = { metric: 'requests', period: 'day', limit_value: 9, ...WHOLE } as const;
const AT = Date.parse('2026-11-18T12:30:00.000Z');

describe('the limits that apply to a request', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let anne: Caller;
  let one: Awaited<ReturnType<typeof addOneOfEach>>;
  let other: Awaited<ReturnType<typeof addOneOfEach>>;
  let keyId: string;
  let teamId: string;
  let parentId: string;
  let number = 0;
  /** What each limit is for, by its id. */
  const names = new Map<string, string>();

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, {
      deployment: { mode: 'self_hosted', accounts: true, version: '0.0.0' },
      limitUsage: async (_organizationId, policies) =>
        policies.map(({ id }) => ({ policyId: id, used: 2, reserved: 1, resetMs: 0, mark: null })),
    });
    anne = await addMember(room, room.acme, 'developer');
    const ben = await addMember(room, room.acme, 'developer');
    one = await addOneOfEach(room, room.acme, 'One');
    other = await addOneOfEach(room, room.acme, 'Other');
    names.set(one.limitPolicy.id, 'endpoint one').set(other.limitPolicy.id, 'endpoint other');
    await share('global', { scope_type: 'global' });
    await share('off', { scope_type: 'global', limit_value: 10, enabled: false });
    await share('lane one', { scope_type: 'lane', scope_id: one.lane.id });
    await share('lane other', { scope_type: 'lane', scope_id: other.lane.id });
    await share('provider one', { scope_type: 'provider', scope_id: one.provider.id });
    await share('provider other', { scope_type: 'provider', scope_id: other.provider.id });
    keyId = await addKey(anne);
    const second = await addKey(anne);
    const toAll = { target_type: 'global', ...DAILY } as const;
    for (const [name, api_key_uuid] of [
      ['key', keyId],
      ['second key', second],
    ] as const)
      await room
        .call('upsertApiKeyLimitPolicy', room.acme, { body: { api_key_uuid, ...toAll } })
        .then(async () => {
          const { policies } = (await room.call('listApiKeyLimitPolicies', room.acme)).body;
          names.set(policies.find((each) => each.api_key_uuid === api_key_uuid)?.limit_uuid ?? '', name);
        });
    for (const [name, user_uuid] of [
      ['anne', anne.userId],
      ['ben', ben.userId],
    ] as const)
      await room
        .call('upsertUserLimitPolicy', room.acme, { body: { user_uuid, ...toAll } })
        .then(async () => {
          const { policies } = (await room.call('listUserLimitPolicies', room.acme)).body;
          names.set(policies.find((each) => each.user_uuid === user_uuid)?.limit_uuid ?? '', name);
        });
    parentId = await addTeam('Research', null);
    teamId = await addTeam('Search', parentId);
    await addTeam('Elsewhere', null);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  async function share(name: string, body: Partial<LimitPolicyCreate>): Promise<void> {
    const whole = { scope_type: 'global', metric: 'requests', period: 'minute', limit_value: 60 } as const;
    names.set(
      (await room.call('createLimitPolicy', room.acme, { body: { ...whole, ...body } })).body.id,
      name,
    );
  }

  async function addKey({ organizationId, userId }: Caller): Promise<string> {
    const id = randomUUIDv7();
    const key = {
      organization_id: organizationId,
      id,
      user_id: userId,
      name: 'App',
      scopes: ['relay:request'],
    };
    await room.db
      .insertInto('api_keys')
      .values({ ...key, public_id: id.slice(-10), secret_hmac: Buffer.alloc(32) })
      .execute();
    return id;
  }

  async function addTeam(name: string, parent_id: string | null): Promise<string> {
    const { body: team } = await room.call('createTeam', room.acme, { body: { name, parent_id } });
    await room.call('upsertTeamLimitPolicy', room.acme, {
      body: { team_uuid: team.id, target_type: 'global', ...DAILY },
    });
    const { policies } = (await room.call('listTeamLimitPolicies', room.acme)).body;
    names.set(policies.find((each) => each.team_uuid === team.id)?.limit_uuid ?? '', `team ${name}`);
    return team.id;
  }

  /** Records a request of Anne's key to the lane, which the first endpoint served. */
  async function record(over: Partial<LedgerRow> = {}): Promise<string> {
    number += 1;
    const row = sampleRow({
      request_id: idAt(AT, number),
      organization_id: room.acme.organizationId,
      user_id: anne.userId,
      key_id: keyId,
      team_id: teamId,
      parent_team_id: parentId,
      lane_id: one.lane.id,
      endpoint_id: one.endpoint.id,
      attempts: [attemptAt(one)],
      ...over,
    });
    await recordRequests(room.db, [row]);
    return row.request_id;
  }

  const attemptAt = ({ endpoint, provider }: typeof one): StoredAttempt => ({
    endpoint_id: endpoint.id,
    provider_id: provider.id,
    upstream_model: 'gpt-5',
    status: 200,
    outcome: 'completed',
    cause: null,
    started_ms: 1,
    wait_ms: 0,
    latency_ms: 10,
  });
  const traceOf = (...made: (typeof one)[]): LedgerRow['trace'] => ({
    timings: null,
    guardrails: [],
    candidates: made.map(({ endpoint }, index) => ({
      endpoint_id: endpoint.id,
      rank: index + 1,
      verdict: 'limited',
      reason: 'at its limit',
      wait_ms: null,
    })),
  });
  async function namesOf(requestId: string, caller: Caller = room.acme): Promise<readonly string[]> {
    const { body } = await room.call('getRequestLimits', caller, { id: requestId });
    return body.limits.map(({ policy_id }) => names.get(policy_id) ?? policy_id).sort();
  }
  const OWN = ['anne', 'key', 'team Research', 'team Search'];
  const SERVED = [
    'anne',
    'endpoint one',
    'global',
    'key',
    'lane one',
    'provider one',
    'team Research',
    'team Search',
  ];

  it('are those of its key, member, teams, lane, provider and endpoint, in force', async () => {
    assert.deepEqual(await namesOf(await record()), SERVED);
    const plain = await record({ key_id: null, team_id: null, parent_team_id: null, lane_id: null });
    assert.deepEqual(await namesOf(plain), ['anne', 'endpoint one', 'global', 'provider one']);
  });

  it('have their state of now, their owner and what they apply to by name', async () => {
    const { body } = await room.call('getRequestLimits', room.acme, { id: await record() });
    assert.equal(body.counted, 'organization');
    const found = body.limits.find(({ policy_kind }) => policy_kind === 'api_key');
    const { limit, used, reserved, remaining, subject_id, subject_name, scope_name } = found ?? {};
    assert.deepEqual(
      { limit, used, reserved, remaining, subject_id, subject_name, scope_name },
      {
        limit: 9,
        used: 2,
        reserved: 1,
        remaining: 6,
        subject_id: keyId,
        subject_name: 'App',
        scope_name: null,
      },
    );
    const lane = body.limits.find(({ scope_type }) => scope_type === 'lane');
    assert.deepEqual([lane?.scope_name, lane?.subject_id], ['One', null]);
  });

  it('are also those of an endpoint that it was sent to first, or waited for', async () => {
    const both = [...SERVED, 'endpoint other', 'provider other'].sort();
    assert.deepEqual(await namesOf(await record({ attempts: [attemptAt(other), attemptAt(one)] })), both);
    const bound: StoredBoundPolicy = {
      policy_id: randomUUIDv7(),
      kind: 'resource',
      scope_type: 'provider',
      scope_id: other.provider.id,
      metric: 'requests',
      period: 'minute',
      resets_at: null,
    };
    const trace = traceOf(other, one);
    assert.deepEqual(await namesOf(await record({ trace, bound_policy: bound })), both);
    assert.deepEqual(await namesOf(await record({ trace })), SERVED, 'it was only considered');
  });

  it('of a request that was sent nowhere are those of what was considered', async () => {
    const nowhere = { endpoint_id: null, attempts: [] };
    const all = [
      ...OWN,
      'endpoint one',
      'endpoint other',
      'global',
      'lane one',
      'provider one',
      'provider other',
    ];
    assert.deepEqual(await namesOf(await record({ ...nowhere, trace: traceOf(one, other) })), all.sort());
    assert.deepEqual(await namesOf(await record(nowhere)), [...OWN, 'global', 'lane one'].sort());
  });

  it('are not those of the team that the member is in by now', async () => {
    await room.call('updateMember', room.acme, { id: anne.userId, body: { team_id: teamId } });
    const before = await record({ team_id: null, parent_team_id: null, key_id: null });
    assert.deepEqual(await namesOf(before), ['anne', 'endpoint one', 'global', 'lane one', 'provider one']);
  });

  it('are those that count their own requests for those who can’t read all limits', async () => {
    const id = await record();
    const all = await namesOf(id, room.acme);
    assert.ok(all.includes('team Search') && all.includes('global'));
    assert.deepEqual(await namesOf(id, anne), all);
    assert.deepEqual(await namesOf(id, asKey(anne, ['relay:usage:read'])), all);
    const { body } = await room.call('getRequestLimits', anne, { id });
    assert.equal(body.counted, 'own');
    const reader = asKey(room.acme, ['relay:usage:read', 'relay:usage:read:organization']);
    assert.deepEqual(await namesOf(id, reader), [], 'the request of somebody else');
    const limits = asKey(room.acme, ['relay:usage:read', 'relay:limits:read:organization']);
    await assert.rejects(room.call('getRequestLimits', limits, { id }), refusal('not_found'));
  });

  it('are not found by other members, other organizations and under another id', async () => {
    const id = await record();
    const stranger = await addMember(room, room.acme, 'developer');
    for (const caller of [stranger, room.globex])
      await assert.rejects(room.call('getRequestLimits', caller, { id }), refusal('not_found'));
    for (const unknown of [randomUUIDv7(), 'nothing'])
      await assert.rejects(room.call('getRequestLimits', room.acme, { id: unknown }), refusal('not_found'));
  });
});
