import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BoundPolicy } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import type { Caller } from '../../domain/caller.ts';
import type { StoredBoundPolicy } from '../../store/ledger/ledger-json.ts';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import { addMember, addOneOfEach, asKey, type ManagementFixture, startManagement } from '../fixture.ts';
import { idAt, recordRequests } from './ledger.fixture.ts';

const WHOLE = { unpriced: 'refuse', enforcement: 'estimate', enabled: true } as const;

describe('the limit of a logged request', () => {
  const nowMs = Date.parse('2026-11-18T12:30:00.000Z');
  let database: FreshDatabase;
  let room: ManagementFixture;
  let made: Awaited<ReturnType<typeof addOneOfEach>>;
  let keyId: string;
  let limitId: string;
  let number = 0;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, {
      deployment: { mode: 'self_hosted', accounts: true, version: '0.0.0' },
    });
    made = await addOneOfEach(room, room.acme, 'Assistant');
    const key = { name: 'Nightly batch', scopes: ['relay:request'] as 'relay:request'[] };
    keyId = (await room.call('createApiKey', room.acme, { body: key })).body.key.id;
    const limit = { metric: 'requests', period: 'day', limit_value: 6, ...WHOLE } as const;
    await room.call('upsertApiKeyLimitPolicy', room.acme, {
      body: { api_key_uuid: keyId, target_type: 'lane', target_id: made.lane.id, ...limit },
    });
    const { policies } = (await room.call('listApiKeyLimitPolicies', room.acme)).body;
    limitId = policies[0]?.limit_uuid ?? '';
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  /** Records a request that this limit rejected, and reads it. */
  async function limitOf(
    bound: Partial<StoredBoundPolicy>,
    caller: Caller = room.acme,
    over: Partial<LedgerRow> = {},
  ): Promise<BoundPolicy | null> {
    number += 1;
    const row = sampleRow({
      request_id: idAt(nowMs, number),
      organization_id: room.acme.organizationId,
      user_id: room.acme.userId,
      key_id: keyId,
      lane_id: made.lane.id,
      state: 'failed',
      status: 429,
      error_code: 'budget_exhausted',
      usage_source: 'none',
      bound_policy: {
        policy_id: limitId,
        kind: 'api_key',
        scope_type: 'lane',
        scope_id: made.lane.id,
        metric: 'requests',
        period: 'day',
        resets_at: '2026-11-18T23:59:59.988Z',
        ...bound,
      },
      ...over,
    });
    await recordRequests(room.db, [row]);
    return (await room.call('getRequest', caller, { id: row.request_id })).body.bound_policy;
  }

  it('has its value, its owner and its scope by name, and resets at the end of its window', async () => {
    assert.deepEqual(await limitOf({}), {
      policy_id: limitId,
      policy_kind: 'api_key',
      subject_id: keyId,
      subject_name: 'Nightly batch',
      scope_type: 'lane',
      scope_id: made.lane.id,
      scope_name: 'Assistant',
      metric: 'requests',
      period: 'day',
      limit_value: 6,
      resets_at: '2026-11-19T00:00:00.000Z',
    });
  });

  it('has no owner if it is shared, and no reset if it is on concurrency', async () => {
    const shared = { policy_id: made.limitPolicy.id, kind: 'resource' } as const;
    const onEndpoint = { scope_type: 'endpoint', scope_id: made.endpoint.id } as const;
    const found = await limitOf({ ...shared, ...onEndpoint });
    assert.deepEqual(
      [found?.subject_id, found?.subject_name, found?.scope_name, found?.limit_value],
      [null, null, 'Assistant', 600],
    );
    await room.call('updateEndpoint', room.acme, { id: made.endpoint.id, body: { max_concurrency: 4 } });
    const concurrency = await limitOf({
      ...onEndpoint,
      policy_id: `endpoint:${made.endpoint.id}:max_concurrency`,
      kind: 'resource',
      metric: 'concurrency',
      period: 'none',
    });
    assert.deepEqual(
      [concurrency?.scope_name, concurrency?.limit_value, concurrency?.resets_at],
      ['Assistant', 4, null],
    );
  });

  it('of a team is that of the team that has it, which may be the parent', async () => {
    const { body: parent } = await room.call('createTeam', room.acme, { body: { name: 'Research' } });
    const body = { metric: 'requests', period: 'day', limit_value: 9, ...WHOLE } as const;
    await room.call('upsertTeamLimitPolicy', room.acme, {
      body: { team_uuid: parent.id, target_type: 'global', ...body },
    });
    const { policies } = (await room.call('listTeamLimitPolicies', room.acme)).body;
    const ofTeam = {
      policy_id: policies[0]?.limit_uuid ?? '',
      kind: 'team',
      scope_type: 'global',
      scope_id: null,
    } as const;
    const found = await limitOf(ofTeam);
    assert.deepEqual(
      [found?.subject_id, found?.subject_name, found?.scope_name, found?.limit_value],
      [parent.id, 'Research', null, 9],
    );
    const narrow = await limitOf(ofTeam, asKey(room.acme, ['relay:usage:read']));
    assert.deepEqual(
      [narrow?.subject_id, narrow?.subject_name, narrow?.limit_value],
      [parent.id, 'Research', 9],
    );
  });

  it('names only whose limits count the own requests to a caller without access to limits', async () => {
    const own = await limitOf({}, asKey(room.acme, ['relay:usage:read']));
    assert.deepEqual([own?.subject_name, own?.scope_name], ['Nightly batch', 'Assistant']);
    const self = await limitOf({ kind: 'user' }, asKey(room.acme, ['relay:usage:read']));
    assert.deepEqual([self?.subject_id, self?.subject_name], [room.acme.userId, 'owner']);
    const other = await addMember(room, room.acme, 'developer');
    const reader = asKey(room.acme, ['relay:usage:read', 'relay:usage:read:organization']);
    const theirs = await limitOf({}, reader, { user_id: other.userId });
    assert.deepEqual(
      [theirs?.policy_kind, theirs?.subject_id, theirs?.subject_name, theirs?.scope_name],
      ['api_key', null, null, 'Assistant'],
    );
  });

  it('has no value once it was deleted, and keeps the name of what was deleted', async () => {
    await room.call('deleteApiKeyLimitPolicy', room.acme, { query: { limit_uuid: limitId } });
    const { body: lane } = await room.call('createLane', room.acme, { body: { name: 'Short-lived' } });
    await room.call('deleteLane', room.acme, { id: lane.id });
    const found = await limitOf({ scope_id: lane.id });
    assert.deepEqual(
      [found?.limit_value, found?.subject_name, found?.scope_id, found?.scope_name],
      [null, 'Nightly batch', lane.id, 'Short-lived'],
    );
  });
});
