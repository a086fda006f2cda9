import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigFile, ResourceEdit, WhatIf } from '@relay/contract';
import type { Caller } from '../../domain/caller.ts';
import { uuidAt, uuidTimeMs } from '../../kit/uuid-time.ts';
import { configFileRoom, smallFile, withSecret } from '../config-file/config-file.fixture.ts';
import { refusal } from '../fixture.ts';
import { recordRequests } from '../requests/ledger.fixture.ts';
import { servedRows } from './traffic.fixture.ts';

const REQUESTS = 60;

describe('what-if of one edited resource', () => {
  const { room, empty, apply, exported } = configFileRoom();

  /** The small file, released from the file, with 60 requests in 6 s to its lane. */
  async function site(limit = 600): Promise<Caller> {
    const caller = await empty();
    const [policy] = smallFile().limit_policies;
    assert.ok(policy);
    const file = { ...smallFile(), limit_policies: [{ ...policy, limit_value: limit }] } satisfies ConfigFile;
    await apply(caller, file, withSecret);
    await apply(caller, { version: 1 }, { release: true });
    const { endpoints } = await room().snapshots.load(caller.organizationId);
    const [endpointId = ''] = endpoints.keys();
    await recordRequests(room().db, servedRows(caller, endpointId, { count: REQUESTS, everyMs: 100 }));
    return caller;
  }

  async function whatIf(caller: Caller, edit: ResourceEdit): Promise<WhatIf> {
    return (await room().call('whatIf', caller, { body: { edit } })).body;
  }

  const ids = async (caller: Caller) => {
    const { lanes, endpoints, limitPolicies } = await room().snapshots.load(caller.organizationId);
    const [laneId = ''] = lanes.keys();
    const [endpointId = ''] = endpoints.keys();
    return { laneId, endpointId, limitId: limitPolicies[0]?.id ?? '' };
  };

  it('replays a lane with another wait budget', async () => {
    const caller = await site(30);
    const { laneId } = await ids(caller);
    const { members: _members, ...lane } = (await room().call('getLane', caller, { id: laneId })).body;
    const body = { ...lane, default_max_wait_ms: 600_000 };
    const { before, after } = await whatIf(caller, { operation: 'updateLane', id: laneId, body });
    assert.equal(before.rejected, REQUESTS - 30);
    assert.equal(after.rejected, 0);
    assert.ok(after.wait_ms_p95 > 30_000);
  });

  it('replays a lane whose only endpoint is taken out', async () => {
    const caller = await site();
    const { laneId } = await ids(caller);
    const lane = (await room().call('getLane', caller, { id: laneId })).body;
    const { before, after } = await whatIf(caller, {
      operation: 'updateLane',
      id: laneId,
      body: { ...lane, members: [] },
    });
    assert.deepEqual([before.rejected, after.rejected], [0, REQUESTS]);
  });

  it('tells the edited lane apart from lanes that share its limits', async () => {
    const caller = await site(30);
    const { laneId, endpointId } = await ids(caller);
    const members = [{ endpoint_id: endpointId }];
    const slow = (await room().call('createLane', caller, { body: { name: 'Slow', members } })).body;
    const rows = servedRows(caller, endpointId, { count: 10, everyMs: 1, over: { model: 'slow' } });
    await recordRequests(
      room().db,
      rows.map((row, at) => ({ ...row, request_id: uuidAt(uuidTimeMs(row.request_id) + 7_000 + at) })),
    );
    const lane = (await room().call('getLane', caller, { id: laneId })).body;
    const edited = (body: object) =>
      whatIf(caller, { operation: 'updateLane', id: laneId, body: { ...lane, ...body } });
    const { lanes, requests } = await edited({ members: [] });
    assert.equal(requests, REQUESTS + 10);
    assert.deepEqual(
      lanes.map((each) => [each.lane_id, each.requests, each.before.rejected, each.after.rejected]),
      [
        [laneId, REQUESTS, REQUESTS - 30, REQUESTS],
        [slow.id, 10, 10, 0],
      ],
    );
    assert.match(lanes[0]?.summary ?? '', /^30 more rejections/);
    assert.match(lanes[1]?.summary ?? '', /^10 fewer rejections/);
    assert.deepEqual(
      lanes.map(({ history, lane_name: name }) => [name, history.served]),
      [
        ['Fast', REQUESTS],
        ['Slow', 10],
      ],
    );
    const same = (await edited({ description: 'Another' })).lanes;
    assert.deepEqual(
      same.map(({ lane_name: name, before, after }) => [name, before.served, after.served]),
      [['Fast', 30, 30]],
    );
    assert.match(same[0]?.summary ?? '', /^No difference/);
  });

  it('counts the requests of a lane that the edit disables for that lane', async () => {
    const caller = await site();
    const { laneId } = await ids(caller);
    const lane = (await room().call('getLane', caller, { id: laneId })).body;
    const body = { ...lane, enabled: false };
    const { lanes } = await whatIf(caller, { operation: 'updateLane', id: laneId, body });
    assert.deepEqual(
      lanes.map(({ before, after }) => [before.rejected, after.rejected]),
      [[0, REQUESTS]],
    );
  });

  it('replays another value of a limit, a new limit, and the limit of a member', async () => {
    const caller = await site();
    const { limitId, endpointId, laneId } = await ids(caller);
    const rule = { metric: 'requests', period: 'minute', limit_value: 10, enabled: true };
    const on = { scope_type: 'endpoint', scope_id: endpointId };
    const edits: ResourceEdit[] = [
      { operation: 'updateLimitPolicy', id: limitId, body: { ...on, ...rule } },
      { operation: 'createLimitPolicy', body: { scope_type: 'lane', scope_id: laneId, ...rule } },
      {
        operation: 'upsertUserLimitPolicy',
        body: { user_uuid: caller.userId, target_type: 'global', ...rule },
      },
    ];
    for (const edit of edits) {
      const { after, limits, rejecting } = await whatIf(caller, edit);
      assert.equal(after.served, 10, edit.operation);
      assert.deepEqual(
        rejecting.map(({ limit, requests }) => [limit, requests]),
        [[10, REQUESTS - 10]],
        edit.operation,
      );
      assert.deepEqual(
        limits.map(({ limit_after, rejected_after }) => [limit_after, rejected_after]),
        [[10, REQUESTS - 10]],
        edit.operation,
      );
    }
  });

  it('tells the requests that the edited limit applies to apart from all others', async () => {
    const caller = await site();
    const { laneId, endpointId } = await ids(caller);
    const members = [{ endpoint_id: endpointId }];
    await room().call('createLane', caller, { body: { name: 'Slow', members } });
    const rows = servedRows(caller, endpointId, { count: 10, everyMs: 1, over: { model: 'slow' } });
    await recordRequests(
      room().db,
      rows.map((row, at) => ({ ...row, request_id: uuidAt(uuidTimeMs(row.request_id) + 7_000 + at) })),
    );
    const rule = { metric: 'requests', period: 'minute', limit_value: 10, enabled: true } as const;
    const onLane = { scope_type: 'lane', scope_id: laneId, ...rule } as const;
    const created = await whatIf(caller, { operation: 'createLimitPolicy', body: onLane });
    assert.equal(created.requests, REQUESTS + 10);
    assert.deepEqual(
      [created.limit?.requests, created.limit?.before.rejected, created.limit?.after.rejected],
      [REQUESTS, 0, REQUESTS - 10],
    );
    assert.equal(created.limit?.history.served, REQUESTS);
    assert.match(created.limit?.summary ?? '', /^50 more rejections/);
    assert.deepEqual(
      created.limit?.rejecting.map(({ scope_name: scope, requests }) => [scope, requests]),
      [['Fast', REQUESTS - 10]],
    );
    const saved = (await room().call('createLimitPolicy', caller, { body: onLane })).body;
    const disabled = await whatIf(caller, {
      operation: 'updateLimitPolicy',
      id: saved.id,
      body: { ...onLane, enabled: false },
    });
    assert.deepEqual([disabled.limit?.requests, disabled.limit?.rejecting], [REQUESTS, []]);
    const lane = (await room().call('getLane', caller, { id: laneId })).body;
    assert.equal((await whatIf(caller, { operation: 'updateLane', id: laneId, body: lane })).limit, null);
  });

  it('prices the same requests again', async () => {
    const caller = await site();
    const { endpointId } = await ids(caller);
    const prices = (await room().call('listPricingPolicies', caller)).body;
    const price = prices.find(({ endpoint_id }) => endpoint_id === endpointId);
    assert.ok(price);
    const { before, after } = await whatIf(caller, {
      operation: 'updatePricingPolicy',
      id: price.id,
      body: { input_cost_micros_per_1m_tokens: 101 },
    });
    assert.equal(Number(after.cost_micros) - Number(before.cost_micros), REQUESTS * 100);
  });

  it('writes nothing: no row, no version, no audit entry', async () => {
    const caller = await site();
    const { laneId, limitId } = await ids(caller);
    const state = async () => ({
      file: await exported(caller),
      version: await room().configVersion(caller),
      audited: (await room().call('listAuditLog', caller, { query: {} })).body,
      fences: room().raised.length,
    });
    const was = await state();
    const lane = (await room().call('getLane', caller, { id: laneId })).body;
    const body = { ...lane, name: 'Another', enabled: false, members: [] };
    await whatIf(caller, { operation: 'updateLane', id: laneId, body });
    const rule = { metric: 'requests', period: 'minute', limit_value: 1, enabled: false };
    await whatIf(caller, {
      operation: 'updateLimitPolicy',
      id: limitId,
      body: { scope_type: 'global', ...rule },
    });
    assert.deepEqual(await state(), was);
  });

  it('answers like a save to an edit that a save would reject', async () => {
    const caller = await site();
    const other = await site();
    const { laneId } = await ids(caller);
    const lane = (await room().call('getLane', caller, { id: laneId })).body;
    const saved = (over: object, id = laneId) =>
      whatIf(caller, { operation: 'updateLane', id, body: { ...lane, ...over } });
    await assert.rejects(
      saved({ default_max_wait_ms: -1 }),
      refusal('invalid_request', 'edit.body.default_max_wait_ms'),
    );
    const { laneId: foreign } = await ids(other);
    await assert.rejects(saved({}, foreign), refusal('not_found'));
    const { endpointId } = await ids(other);
    const members = [{ endpoint_id: endpointId }];
    await assert.rejects(saved({ members }), refusal('not_found', 'members[0].endpoint_id'));
    await assert.rejects(saved({ name: 'gpt-5' }), refusal('name_taken'));
    await apply(caller, smallFile(), withSecret);
    await assert.rejects(saved({ name: 'Owned' }), refusal('managed_by_file'));
  });

  it('takes either a file or an edit, and the id that the operation needs', async () => {
    const caller = await site();
    const edit: ResourceEdit = { operation: 'updateLane', body: {} };
    const sent = (body: object) => room().call('whatIf', caller, { body });
    await assert.rejects(sent({}), refusal('invalid_request', 'edit'));
    await assert.rejects(sent({ edit, config: { version: 1 } }), refusal('invalid_request', 'edit'));
    await assert.rejects(sent({ edit, prune: true }), refusal('invalid_request', 'prune'));
    const { limitId, laneId } = await ids(caller);
    const lane = (await room().call('getLane', caller, { id: laneId })).body;
    await assert.rejects(
      whatIf(caller, { operation: 'updateLane', body: lane }),
      refusal('invalid_request', 'edit.id'),
    );
    const body = { scope_type: 'global', metric: 'requests', period: 'minute', limit_value: 1 };
    await assert.rejects(
      whatIf(caller, { operation: 'createLimitPolicy', id: limitId, body }),
      refusal('invalid_request', 'edit.id'),
    );
  });

  it('does not run for a client that left, queued or running', async () => {
    const caller = await site();
    const config = { version: 1 } as const;
    const leaving = Array.from({ length: 8 }, () => new AbortController());
    const calls = leaving.map(({ signal }) =>
      room().call('whatIf', caller, { body: { config }, ended: signal }),
    );
    const outcomes = Promise.allSettled(calls);
    await assert.rejects(room().call('whatIf', caller, { body: { config } }), refusal('queue_full'));
    for (const each of leaving) each.abort();
    assert.deepEqual(
      (await outcomes).map(({ status }) => status),
      calls.map(() => 'rejected'),
    );
    // All places are free again.
    assert.equal((await room().call('whatIf', caller, { body: { config } })).body.requests, REQUESTS);
  });
});
