import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { createRandom } from '@relay/testbed/random';
import { SOMEBODY } from '../../admission/ask.fixture.ts';
import type { Caller } from '../../domain/caller.ts';
import { endpointBound, type Limit, resourceLimit } from '../../domain/limits/limit.ts';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import { storeUnavailable } from '../../store/store-error.ts';
import {
  addMember,
  addOneOfEach,
  asKey,
  type ManagementFixture,
  REFUSED,
  refusal,
  startManagement,
} from '../fixture.ts';
import { idAt, recordRequests } from '../requests/ledger.fixture.ts';

const HOUR_MS = 3_600_000;

describe('statistics of all endpoints', () => {
  const nowMs = Date.parse('2026-03-31T12:30:00.000Z');
  let database: FreshDatabase;
  let room: ManagementFixture;
  let one: Awaited<ReturnType<typeof addOneOfEach>>;
  let two: Awaited<ReturnType<typeof addOneOfEach>>;
  let developer: Caller;
  let rows: LedgerRow[];
  let storeIsAway = false;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, {
      deployment: { mode: 'self_hosted', accounts: true, version: '0.0.0' },
      clock: { nowMs: () => nowMs, monotonicMs: () => performance.now() },
      limitUsage: (organizationId, policies) =>
        storeIsAway
          ? Promise.reject(storeUnavailable('redis', 'the breaker is open'))
          : room.engine.usage(organizationId, policies),
    });
    one = await addOneOfEach(room, room.acme, 'One');
    two = await addOneOfEach(room, room.acme, 'Two');
    developer = await addMember(room, room.acme, 'developer');
    rows = generated();
    await recordRequests(room.db, rows);
  });
  beforeEach(() => {
    storeIsAway = false;
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  /** A day of requests to the first endpoint, from two people and over two lanes. */
  function generated(): LedgerRow[] {
    const random = createRandom(5).next;
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    return Array.from({ length: 1_500 }, (_, number) => {
      const state = pick(['completed', 'completed', 'completed', 'failed', 'cancelled'] as const);
      return sampleRow({
        request_id: idAt(Math.floor(nowMs - random() * 23 * HOUR_MS), number),
        organization_id: room.acme.organizationId,
        user_id: pick([developer.userId, room.acme.userId]),
        lane_id: pick([one.lane.id, two.lane.id]),
        endpoint_id: one.endpoint.id,
        provider_id: one.provider.id,
        state,
        error_code: state === 'failed' ? pick(['upstream_timeout', 'upstream_status_500']) : null,
        ...firstContent(random),
        latency_ms: Math.floor(random() ** 3 * 90_000),
        actual_cost_micros: Math.floor(random() * 1_000_000),
        actual_cost_rounding_picos: Math.floor(random() * 999_999),
        ...(random() < 0.1 && {
          usage_source: 'none',
          actual_cost_micros: null,
          actual_cost_rounding_picos: 0,
        }),
      });
    });
  }

  /** After a wait, and in part after an attempt that failed. */
  function firstContent(random: () => number): Pick<LedgerRow, 'ttft_ms' | 'attempts'> {
    const waitMs = Math.floor(random() ** 3 * 30_000);
    const started = random() < 0.2 ? [waitMs, waitMs + Math.floor(random() * 4_000)] : [waitMs];
    const ttftMs = random() < 0.8 ? (started.at(-1) ?? 0) + Math.floor(random() ** 3 * 20_000) : null;
    return {
      ttft_ms: ttftMs,
      attempts: started.map((startedMs) => ({
        endpoint_id: one.endpoint.id,
        provider_id: one.provider.id,
        upstream_model: 'gpt-5',
        outcome: 'completed',
        status: 200,
        cause: null,
        wait_ms: waitMs,
        latency_ms: 5,
        started_ms: startedMs,
      })),
    };
  }

  const read = async (caller: Caller = room.acme, query = {}) =>
    (await room.call('getEndpointStats', caller, { query })).body;
  const statsOf = async (endpointId: string, caller?: Caller) => {
    const { endpoints } = await read(caller);
    const found = endpoints.find(({ endpoint_id: id }) => id === endpointId);
    assert.ok(found);
    return found;
  };

  function quantile(values: readonly number[], share: number): number {
    const sorted = values.toSorted((a, b) => a - b);
    const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
    const stepMs = exact <= 1_000 ? 1 : 10 ** (String(exact).length - 2);
    return Math.floor(exact / stepMs + 0.5) * stepMs;
  }

  for (const who of ['the organization', 'a developer'] as const) {
    it(`are those of the ledger's rows, to what is shown, for ${who}`, async () => {
      const caller = who === 'the organization' ? room.acme : developer;
      const own = rows.filter(({ user_id }) => caller === room.acme || user_id === caller.userId);
      const stats = await statsOf(one.endpoint.id, caller);
      const inState = (state: LedgerRow['state']) => own.filter((row) => row.state === state).length;
      assert.deepEqual(
        [stats.requests, stats.served, stats.failed, stats.cancelled],
        [own.length, inState('completed'), inState('failed'), inState('cancelled')],
      );
      const ttfts = own.flatMap(({ ttft_ms: ttftMs, attempts }) =>
        ttftMs === null ? [] : ttftMs - (attempts.at(-1)?.started_ms ?? 0),
      );
      assert.equal(stats.ttft_ms_p50, quantile(ttfts, 0.5));
      assert.equal(stats.ttft_ms_p95, quantile(ttfts, 0.95));
      const latencies = own.map(({ latency_ms }) => latency_ms);
      assert.equal(stats.duration_ms_p95, quantile(latencies, 0.95));
      const failed = own.filter(({ error_code: code }) => code === 'upstream_timeout').length;
      assert.equal(
        stats.errors.find(({ error_code: code }) => code === 'upstream_timeout')?.requests,
        failed,
      );
      assert.equal(stats.series.length, 24);
      assert.equal(
        stats.series.reduce((sum, count) => sum + count, 0),
        own.length,
      );
      const lastHour = own.filter(({ request_id: id }) => id >= idAt(nowMs - HOUR_MS / 2, 0)).length;
      assert.equal(stats.series.at(-1), lastHour);
      const picos = own.reduce(
        (sum, row) =>
          sum + BigInt(row.actual_cost_micros ?? 0) * 1_000_000n - BigInt(row.actual_cost_rounding_picos),
        0n,
      );
      assert.equal(stats.cost_micros, Number((picos + 500_000n) / 1_000_000n));
      const metered = own.filter(({ usage_source: source }) => source !== 'none').length;
      assert.deepEqual([stats.metered_requests, stats.unpriced_requests], [metered, 0]);
    });
  }

  it('an endpoint without requests is listed with nothing', async () => {
    const { requests, series, ttft_ms_p50: ttft, errors, cost_usd: cost } = await statsOf(two.endpoint.id);
    assert.deepEqual([requests, series, ttft, errors, cost], [0, [], null, [], '0']);
  });

  it('have the health of the endpoint with its reason', async () => {
    for (let n = 0; n < 3; n += 1) await room.attempted(room.acme, two.endpoint.id, REFUSED);
    const { health, health_detail: detail } = await statsOf(two.endpoint.id);
    assert.deepEqual([health, detail.reason], ['down', 'connection refused']);
  });

  it('have the tightest limit of those on the endpoint, its provider and the organization', async () => {
    const own = await statsOf(one.endpoint.id);
    assert.equal(own.tightest_limit?.policy_id, one.limitPolicy.id);
    const { body: shut } = await room.call('createLimitPolicy', room.acme, {
      body: {
        scope_type: 'provider',
        scope_id: one.provider.id,
        metric: 'requests',
        period: 'day',
        limit_value: 0,
      },
    });
    await room.snapshots.refreshNow(room.acme.organizationId);
    assert.equal((await statsOf(one.endpoint.id)).tightest_limit?.policy_id, shut.id);
    assert.equal((await statsOf(two.endpoint.id)).tightest_limit?.policy_id, two.limitPolicy.id);
  });

  it('have the concurrency limit of the endpoint as tightest when it is full, and not while it has more room', async () => {
    const id = two.endpoint.id;
    await room.call('updateEndpoint', room.acme, { id, body: { max_concurrency: 2 } });
    const { body: shared } = await room.call('createLimitPolicy', room.acme, {
      body: { scope_type: 'global', metric: 'concurrency', period: 'none', limit_value: 64 },
    });
    await room.snapshots.refreshNow(room.acme.organizationId);
    const snapshot = await room.snapshots.load(room.acme.organizationId);
    const endpoint = snapshot.endpoints.get(id);
    const policy = snapshot.limitPolicies.find((each) => each.id === shared.id);
    assert.ok(endpoint !== undefined && policy !== undefined);
    const [all, own] = [resourceLimit(policy), endpointBound(endpoint, 2)];
    await hold(all);
    assert.equal((await statsOf(id)).tightest_limit?.policy_id, shared.id);
    await hold(all, own);
    await hold(all, own);
    const { tightest_limit: tightest } = await statsOf(id);
    assert.deepEqual(
      [tightest?.policy_id, tightest?.scope_type, tightest?.used, tightest?.limit],
      [`endpoint:${id}:max_concurrency`, 'endpoint', 2, 2],
    );
  });

  /** A request in flight that counts toward these limits. */
  async function hold(...limits: readonly Limit[]): Promise<void> {
    const { kind } = await room.engine.admit({
      organizationId: room.acme.organizationId,
      operationId: randomUUIDv7(),
      queue: 'one',
      waitersMax: 10,
      ...SOMEBODY,
      candidates: [
        {
          endpointId: two.endpoint.id,
          paced: false,
          charges: limits.map(({ applied }) => ({ policy: applied, cost: 1 })),
        },
      ],
      selection: 'preferred',
      waitMsMax: 60_000,
      leaseMs: 60_000,
      draft: '',
    });
    assert.equal(kind, 'admitted');
  }

  it('count requests that a limit of the endpoint rejected, though they reached no endpoint', async () => {
    const rejectedBy = (policyId: string, number: number) =>
      sampleRow({
        request_id: idAt(nowMs - HOUR_MS, number),
        organization_id: room.acme.organizationId,
        user_id: room.acme.userId,
        lane_id: two.lane.id,
        state: 'failed',
        error_code: 'budget_exhausted',
        usage_source: 'none',
        bound_policy: {
          policy_id: policyId,
          kind: 'resource',
          scope_type: 'endpoint',
          scope_id: two.endpoint.id,
          metric: 'requests',
          period: 'minute',
          resets_at: null,
        },
      });
    const bound = `endpoint:${two.endpoint.id}:max_concurrency`;
    await recordRequests(room.db, [rejectedBy(two.limitPolicy.id, 5_000), rejectedBy(bound, 5_001)]);
    const { rejected: count, requests } = await statsOf(two.endpoint.id);
    assert.deepEqual([count, requests], [2, 0]);
  });

  it('do without limits where the caller may not see them, and while their state is unavailable', async () => {
    const reader = asKey(room.acme, [
      'relay:routing:read',
      'relay:usage:read:organization',
      'relay:usage:read',
    ]);
    assert.equal((await read(reader)).limits, 'no_access');
    storeIsAway = true;
    const { limits, endpoints } = await read();
    assert.equal(limits, 'unavailable');
    assert.deepEqual(
      endpoints.map(({ tightest_limit: limit }) => limit),
      [null, null],
    );
  });

  it('belong to one organization', async () => {
    assert.deepEqual((await read(room.globex)).endpoints, []);
  });

  it('have at most 200 points for each endpoint', async () => {
    const query = { bucket: 'minute', from: new Date(nowMs - 5 * HOUR_MS).toISOString() } as const;
    await assert.rejects(read(room.acme, query), refusal('invalid_request', 'bucket'));
  });
});
