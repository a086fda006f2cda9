import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { RouteQuery, Timeseries } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { createRandom, testSeed } from '@relay/testbed/random';
import fc from 'fast-check';
import type { Caller } from '../../domain/caller.ts';
import { exactUsd, shownMicros } from '../../domain/money/money.ts';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import { addMember, addOneOfEach, type ManagementFixture, refusal, startManagement } from '../fixture.ts';
import { fallbackPicosOf, idAt, recordRequests, sentAtArrival } from '../requests/ledger.fixture.ts';

type Query = RouteQuery<'getTimeseries'>;

const SIZE_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
const METRICS = [
  'requests',
  'errors',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'total_tokens',
  'cost_micros',
  'wait_ms_p50',
  'wait_ms_p95',
  'latency_ms_p50',
  'latency_ms_p95',
  'ttft_ms',
  'fallback_rate',
] as const;
/** The groups that are always there. */
const OUTCOMES = {
  state: ['completed', 'failed', 'cancelled'],
  service: ['immediate', 'waited', 'failed', 'cancelled'],
} as const;
const GROUPS = [
  'none',
  'state',
  'service',
  'lane',
  'endpoint',
  'provider',
  'model',
  'api_key',
  'user',
] as const;

/** Exact up to a second, above it two significant digits. */
function shownMs(ms: number): number {
  const stepMs = ms <= 1_000 ? 1 : 10 ** (String(ms).length - 2);
  return Math.floor(ms / stepMs + 0.5) * stepMs;
}

describe('usage statistics', () => {
  const nowMs = Date.now();
  let database: FreshDatabase;
  let room: ManagementFixture;
  let developer: Caller;
  let rows: LedgerRow[];
  /** The upstream models of endpoints that still exist. */
  const models = new Map<string, string>();
  const pool: Record<'keys' | 'lanes' | 'endpoints' | 'users', string[]> = {
    keys: [randomUUIDv7(), randomUUIDv7()],
    lanes: [randomUUIDv7()],
    endpoints: [randomUUIDv7()],
    users: [],
  };
  let provider = '';

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, {
      deployment: { mode: 'self_hosted', accounts: true, version: '0.0.0' },
      clock: { nowMs: () => nowMs, monotonicMs: () => performance.now() },
    });
    developer = await addMember(room, room.acme, 'developer');
    pool.users.push(developer.userId, room.acme.userId);
    for (const name of ['One', 'Two']) {
      const made = await addOneOfEach(room, room.acme, name);
      pool.lanes.push(made.lane.id);
      pool.endpoints.push(made.endpoint.id);
      models.set(made.endpoint.id, made.endpoint.upstream_model);
      provider = made.provider.id;
    }
    rows = generated();
    await recordRequests(room.db, rows);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  function generated(): LedgerRow[] {
    const random = createRandom(11).next;
    const one = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    const upTo = (most: number) => Math.floor(random() ** 3 * most);
    return Array.from({ length: 6_000 }, (_, number) => {
      const dispatched = random() < 0.8;
      const metered = dispatched && random() < 0.9;
      const row = sampleRow({
        // In three bursts, so that there are gaps.
        request_id: idAt(nowMs - one([0, 7, 40]) * SIZE_MS.hour - upTo(2 * SIZE_MS.hour), number),
        organization_id: number % 6 === 0 ? room.globex.organizationId : room.acme.organizationId,
        user_id: one(pool.users),
        key_id: one([...pool.keys, null]),
        lane_id: one([...pool.lanes, null]),
        endpoint_id: dispatched ? one(pool.endpoints) : null,
        provider_id: dispatched ? provider : null,
        state: one(['completed', 'completed', 'failed', 'cancelled'] as const),
        fallback_count: one([0, 0, 0, 1, 2]),
        wait_ms: upTo(90_000),
        latency_ms: upTo(700_000),
        ttft_ms: dispatched ? upTo(9_000) : null,
        usage_source: metered ? 'reported' : 'none',
        actual_input_tokens: metered ? upTo(9_000) : null,
        actual_cached_input_tokens: metered ? upTo(900) : null,
        actual_output_tokens: metered ? upTo(2_000) : null,
        actual_cost_micros: metered ? 1 + upTo(1_000_000) : null,
        actual_cost_rounding_picos: metered ? upTo(999_999) : 0,
      });
      return sentAtArrival(row, random() < 0.2 ? random() : null);
    });
  }

  const spentPicos = (of: readonly LedgerRow[]) =>
    of.reduce(
      (sum, row) =>
        sum + BigInt(row.actual_cost_micros ?? 0) * 1_000_000n - BigInt(row.actual_cost_rounding_picos),
      0n,
    );

  const read = async (query: Query, caller: Caller = room.acme) =>
    (await room.call('getTimeseries', caller, { query })).body;

  function measure(metric: Timeseries['metric'], of: readonly LedgerRow[]): number | null {
    const sum = (value: (row: LedgerRow) => number | null) =>
      of.reduce((all, row) => all + (value(row) ?? 0), 0);
    const metered = (value: (row: LedgerRow) => number | null) =>
      sum((row) => (row.usage_source === 'none' ? 0 : value(row)));
    const quantile = (value: (row: LedgerRow) => number, share: number) => {
      const sorted = of.map(value).sort((one, other) => one - other);
      const exact = sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1];
      return exact === undefined ? null : shownMs(exact);
    };
    const timed = of.filter(({ ttft_ms }) => ttft_ms !== null);
    switch (metric) {
      case 'requests':
        return of.length;
      case 'errors':
        return of.filter(({ state }) => state === 'failed').length;
      case 'input_tokens':
        return metered((row) => row.actual_input_tokens);
      case 'output_tokens':
        return metered((row) => row.actual_output_tokens);
      case 'cached_input_tokens':
        return metered((row) => row.actual_cached_input_tokens);
      case 'total_tokens':
        return metered((row) => (row.actual_input_tokens ?? 0) + (row.actual_output_tokens ?? 0));
      case 'cost_micros':
        return shownMicros(spentPicos(of));
      case 'fallback_cost_micros':
        return shownMicros(fallbackPicosOf(of));
      case 'wait_ms_p50':
        return quantile(({ wait_ms }) => wait_ms, 0.5);
      case 'wait_ms_p95':
        return quantile(({ wait_ms }) => wait_ms, 0.95);
      case 'latency_ms_p50':
        return quantile(({ latency_ms }) => latency_ms, 0.5);
      case 'latency_ms_p95':
        return quantile(({ latency_ms }) => latency_ms, 0.95);
      case 'ttft_ms':
        return timed.length === 0 ? null : Math.round(sum(({ ttft_ms }) => ttft_ms) / timed.length);
      case 'fallback_rate':
        return of.length === 0
          ? null
          : Math.round((sum(({ fallback_count }) => fallback_count) / of.length) * 10_000) / 10_000;
    }
  }

  /** The group of a row; null when it has none. */
  function groupOf(by: Timeseries['group_by'], row: LedgerRow): string | null {
    const { endpoint_id } = row;
    const columns = {
      none: null,
      state: row.state,
      service: row.state !== 'completed' ? row.state : row.wait_ms > 0 ? 'waited' : 'immediate',
      lane: row.lane_id,
      endpoint: endpoint_id,
      provider: row.provider_id,
      model: endpoint_id === null ? null : (models.get(endpoint_id) ?? endpoint_id),
      api_key: row.key_id,
      user: row.user_id,
    };
    return columns[by];
  }

  it('are what counting every request gives, by metric, group, bucket and time', async () => {
    const ago = (most: number) => fc.integer({ min: 0, max: most });
    const question = fc.record({
      metric: fc.constantFrom(...METRICS),
      group_by: fc.constantFrom(...GROUPS),
      bucket: fc.constantFrom('minute', 'hour', 'day'),
      fromAgo: ago(50 * 60),
      toAgo: ago(50 * 60),
      lane: fc.option(fc.constantFrom(...pool.lanes), { freq: 1 }),
      key: fc.option(fc.constantFrom(...pool.keys), { freq: 1 }),
      own: fc.boolean(),
    });
    const check = async (asked: typeof question extends fc.Arbitrary<infer T> ? T : never) => {
      const bucket = asked.bucket as keyof typeof SIZE_MS;
      const size = SIZE_MS[bucket];
      const group_by = asked.metric === 'requests' || !(asked.group_by in OUTCOMES) ? asked.group_by : 'none';
      // Two thousand minutes at most.
      const spanMin = bucket === 'minute' ? Math.min(1_900, Math.abs(asked.fromAgo - asked.toAgo)) : 50 * 60;
      const toMs = nowMs - Math.min(asked.fromAgo, asked.toAgo) * 60_000;
      const fromMs =
        Math.max(nowMs - Math.max(asked.fromAgo, asked.toAgo) * 60_000, toMs - spanMin * 60_000) - 1;
      const caller = asked.own ? developer : room.acme;
      const body = await read(
        {
          metric: asked.metric,
          group_by,
          bucket,
          from: new Date(fromMs).toISOString(),
          to: new Date(toMs).toISOString(),
          ...(asked.lane === null ? {} : { lane_id: asked.lane }),
          ...(asked.key === null ? {} : { api_key_id: asked.key }),
        },
        caller,
      );
      const [start, end] = [Math.floor(fromMs / size) * size, Math.ceil(toMs / size) * size];
      assert.deepEqual([body.from, body.to], [new Date(start).toISOString(), new Date(end).toISOString()]);
      const wanted = rows.filter((row) => {
        const atMs = uuidTimeMs(row.request_id);
        return (
          row.organization_id === room.acme.organizationId &&
          (!asked.own || row.user_id === developer.userId) &&
          (asked.lane ?? row.lane_id) === row.lane_id &&
          (asked.key ?? row.key_id) === row.key_id &&
          atMs >= start &&
          atMs < end
        );
      });
      const groups = Map.groupBy(wanted, (row) => groupOf(group_by, row));
      if (group_by === 'none' && !groups.has(null)) groups.set(null, []);
      if (group_by === 'state' || group_by === 'service')
        for (const outcome of OUTCOMES[group_by]) groups.set(outcome, groups.get(outcome) ?? []);
      assert.deepEqual(body.series.map(({ key }) => key).toSorted(), [...groups.keys()].toSorted());
      for (const series of body.series) {
        const of = groups.get(series.key) ?? [];
        assert.equal(series.total, measure(asked.metric, of), `the total of ${series.label}`);
        assert.equal(series.total_usd, asked.metric === 'cost_micros' ? exactUsd(spentPicos(of)) : undefined);
        const buckets = Map.groupBy(of, (row) => Math.floor(uuidTimeMs(row.request_id) / size) * size);
        assert.equal(series.points.length, (end - start) / size);
        for (const [index, point] of series.points.entries()) {
          assert.equal(point.at, new Date(start + index * size).toISOString());
          assert.equal(point.value, measure(asked.metric, buckets.get(start + index * size) ?? []), point.at);
        }
      }
    };
    await fc.assert(fc.asyncProperty(question, check), { numRuns: 80, seed: testSeed() });
  });

  it('name what they are grouped by: names of what is there, ids of what is gone, none of what has none', async () => {
    const byEndpoint = await read({ metric: 'requests', group_by: 'endpoint', bucket: 'day' });
    const labels = new Map(byEndpoint.series.map(({ kind, key, label }) => [key, [kind, label]]));
    const [gone = '', named = ''] = pool.endpoints;
    assert.deepEqual(labels.get(named), ['group', 'One']);
    assert.deepEqual(labels.get(gone), ['group', gone]);
    assert.deepEqual(labels.get(null), ['none', 'none']);
    assert.equal(byEndpoint.series.at(-1)?.kind, 'none');
    const byUser = await read({ metric: 'requests', group_by: 'user', bucket: 'day' });
    assert.deepEqual(byUser.series.map(({ label }) => label).toSorted(), ['developer', 'owner']);
    const byModel = await read({ metric: 'requests', group_by: 'model', bucket: 'day' });
    assert.deepEqual(byModel.series.map(({ label }) => label).toSorted(), [gone, 'gpt-5', 'none'].toSorted());
    const all = await read({ metric: 'requests' });
    assert.deepEqual(
      all.series.map(({ kind, key, label, points }) => [kind, key, label, points.length]),
      [['all', null, 'all', 24]],
    );
  });

  it('are of the greatest 50 groups, and of all others together', async () => {
    const { organizationId, userId } = room.globex;
    const keys = Array.from({ length: 60 }, () => randomUUIDv7());
    const atMs = nowMs - 200 * SIZE_MS.day;
    // The first key has one request, the second two, and so on.
    const many = keys.flatMap((key_id, index) =>
      Array.from({ length: index + 1 }, (_, number) =>
        sampleRow({
          request_id: idAt(atMs, index * 100 + number),
          organization_id: organizationId,
          user_id: userId,
          key_id,
        }),
      ),
    );
    await recordRequests(room.db, many);
    const query = {
      metric: 'requests',
      group_by: 'api_key',
      bucket: 'day',
      from: new Date(atMs).toISOString(),
      to: new Date(atMs + 1).toISOString(),
    } as const;
    const { series } = await read(query, room.globex);
    assert.equal(series.length, 51);
    assert.deepEqual(
      series.slice(0, 50).map(({ key, total }) => [key, total]),
      keys
        .map((key, index) => [key, index + 1])
        .toReversed()
        .slice(0, 50),
    );
    assert.deepEqual(series[50], {
      kind: 'other',
      key: null,
      label: 'other',
      total: 55,
      points: [{ at: series[50]?.points[0]?.at ?? '', value: 55 }],
    });
  });

  it('end within the years that a timestamp can name', async () => {
    const { to } = await read({ metric: 'requests', bucket: 'day', to: '9999-12-31T23:59:59.999Z' });
    assert.equal(to, '9999-12-31T00:00:00.000Z');
  });

  it('refuse what cannot be answered, and name the field', async () => {
    const at = (days: number) => new Date(nowMs - days * SIZE_MS.day).toISOString();
    const cases: [Query, string, RegExp][] = [
      [{ metric: 'requests', bucket: 'minute', from: at(30) }, 'bucket', /43,?2\d\d points/],
      [{ metric: 'requests', bucket: 'minute', from: at(20), to: at(19.5) }, 'bucket', /8 days/],
      [{ metric: 'requests', bucket: 'hour', from: at(150), to: at(140) }, 'bucket', /100 days/],
      [{ metric: 'requests', bucket: 'day', from: '0001-01-01T00:00:00Z' }, 'bucket', /points/],
      [{ metric: 'requests', from: at(1), to: at(2) }, 'from', /earlier than "to"/],
      [{ metric: 'cost_micros', group_by: 'state' }, 'group_by', /metric is "requests"/],
      [{ metric: 'errors', group_by: 'service' }, 'group_by', /"service" only when metric is "requests"/],
      [{ metric: 'requests', to: '2016-12-31T23:59:60Z' }, 'to', /time in UTC/],
    ];
    for (const [query, param, words] of cases)
      await assert.rejects(read(query), refusal('invalid_request', param, words));
  });

  it('of what cannot be, and of somebody else’s traffic, are nothing', async () => {
    const [, other = ''] = pool.users;
    for (const [query, caller] of [
      [{ metric: 'requests', user_uuid: other }, developer],
      [{ metric: 'requests', lane_id: 'no id' }, room.acme],
      [{ metric: 'requests', lane_id: randomUUIDv7() }, room.acme],
    ] as [Query, Caller][])
      assert.equal((await read(query, caller)).series[0]?.total, 0);
    assert.deepEqual((await read({ metric: 'requests', group_by: 'lane', lane_id: 'no id' })).series, []);
  });

  it('sum up the organization, or own traffic for whoever may see no more', async () => {
    const summary = async (caller: Caller) => (await room.call('getStatsSummary', caller)).body;
    const count = (of: readonly LedgerRow[]) => {
      const states = { completed: 0, failed: 0, cancelled: 0 };
      for (const { state } of of) states[state] += 1;
      return { requests: of.length, request_states: states };
    };
    const ours = rows.filter(({ organization_id }) => organization_id === room.acme.organizationId);
    const known = { complete_until: null, providers: 2, endpoints: 2, lanes: 2 };
    assert.deepEqual(await summary(room.acme), { ...known, ...count(ours) });
    const own = ours.filter(({ user_id }) => user_id === developer.userId);
    assert.deepEqual(await summary(developer), { ...known, ...count(own) });
    const nobody = await addMember(room, room.acme, 'viewer');
    assert.equal((await summary({ ...nobody, scopes: new Set(['relay:usage:read']) })).requests, 0);
    assert.equal((await summary(room.globex)).providers, 0);
  });

  it('tell how long requests of a lane waited', async () => {
    const [, lane = ''] = pool.lanes;
    const { body } = await room.call('getWaitDistribution', room.acme, { query: { lane_id: lane } });
    const own = rows.filter(
      (row) => row.lane_id === lane && row.organization_id === room.acme.organizationId,
    );
    assert.ok(own.length > 0);
    assert.equal(body.requests, own.length);
    assert.equal(body.undispatched, own.filter(({ endpoint_id }) => endpoint_id === null).length);
    for (const { from_ms, up_to_ms, requests } of body.bins) {
      const within = own.filter(({ wait_ms }) => wait_ms >= from_ms && wait_ms <= (up_to_ms ?? 0));
      assert.equal(requests, within.length, `${from_ms} to ${up_to_ms}`);
    }
    assert.equal(
      body.bins.reduce((sum, { requests }) => sum + requests, 0),
      own.length,
    );
    const long = { lane_id: lane, from: new Date(nowMs - 300 * SIZE_MS.day).toISOString() };
    const { body: whole } = await room.call('getWaitDistribution', room.acme, { query: long });
    assert.equal(whole.requests, body.requests);
    const foreign = await room.call('getWaitDistribution', room.globex, { query: { lane_id: 'nonsense' } });
    assert.equal(foreign.body.requests, 0);
  });
});
