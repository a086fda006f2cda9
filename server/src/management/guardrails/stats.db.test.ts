import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { RouteQuery } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { type RawBuilder, sql } from 'kysely';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import { uninspectableQuery, verdictsQuery } from '../../store/ledger/rollups/read-verdicts.ts';
import { addOneOfEach, type ManagementFixture, refusal, startManagement } from '../fixture.ts';
import { idAt, recordRequests } from '../requests/ledger.fixture.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type Verdict = NonNullable<LedgerRow['trace']>['guardrails'][number]['verdict'];

describe('statistics of guardrails', () => {
  const nowMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + HOUR_MS / 2;
  let database: FreshDatabase;
  let room: ManagementFixture;
  let made: Awaited<ReturnType<typeof addOneOfEach>>;
  let id: string;
  let rows = 0;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, {
      clock: { nowMs: () => nowMs, monotonicMs: () => performance.now() },
    });
    made = await addOneOfEach(room, room.acme);
    const guardrail = { name: 'G', base_url: 'https://guard.example.com/check' };
    id = (await room.call('createGuardrail', room.acme, { body: guardrail })).body.id;
    const asked = (hoursAgo: number, verdict: Verdict, latency_ms: number) =>
      row({ hoursAgo, verdict, latency_ms });
    await recordRequests(room.db, [
      ...Array.from({ length: 19 }, () => asked(0, 'allowed', 20)),
      asked(0, 'blocked', 3_000),
      asked(2, 'unavailable', 5_000),
      asked(30, 'flagged', 20),
      row({ lane: made.lane.id, streaming: true }),
      row({ lane: made.lane.id, endpoint: made.endpoint.id, streaming: true }),
      row({ endpoint: made.endpoint.id, streaming: true }),
      row({ endpoint: randomUUIDv7(), streaming: true }),
      row({ lane: made.lane.id, operation: 'embeddings' }),
      row({ lane: made.lane.id, streaming: true, hoursAgo: 30 }),
    ]);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  function row(of: {
    hoursAgo?: number;
    verdict?: Verdict;
    latency_ms?: number;
    lane?: string;
    endpoint?: string;
    streaming?: boolean;
    operation?: LedgerRow['operation'];
  }): LedgerRow {
    rows += 1;
    const { verdict, latency_ms = 0, lane = null, endpoint = null } = of;
    const said =
      verdict === undefined
        ? []
        : [{ guardrail_id: id, stage: 'pre_dispatch', verdict, latency_ms } as const];
    return sampleRow({
      request_id: idAt(nowMs - (of.hoursAgo ?? 0) * HOUR_MS, rows),
      organization_id: room.acme.organizationId,
      lane_id: lane,
      endpoint_id: endpoint,
      streaming: of.streaming ?? false,
      operation: of.operation ?? 'chat',
      trace: { timings: null, candidates: [], guardrails: said },
    });
  }

  const stats = async (query: RouteQuery<'getGuardrailStats'> = {}) =>
    (await room.call('getGuardrailStats', room.acme, { id, query })).body;

  it('say what it answered in each bucket, and how long that took', async () => {
    const { bucket, points, total } = await stats();
    assert.deepEqual([bucket, points.length], ['hour', 24]);
    const last = points.at(-1);
    assert.deepEqual([last?.allowed, last?.flagged, last?.replaced], [19, 0, 0]);
    assert.deepEqual([last?.blocked, last?.unavailable], [1, 0]);
    assert.equal(last?.latency_ms_p50, 20);
    assert.equal(points.at(-3)?.unavailable, 1);
    assert.deepEqual([points.at(-2)?.allowed, points.at(-2)?.latency_ms_p95], [0, null]);
    assert.deepEqual([total.allowed, total.blocked, total.unavailable, total.flagged], [19, 1, 1, 0]);
    assert.ok(Number(total.latency_ms_p95) > 1_000);
    const days = await stats({ bucket: 'day' });
    assert.equal(days.total.flagged, 1);
  });

  it('are told of all guardrails at once', async () => {
    const { body } = await room.call('getGuardrailTotals', room.acme);
    assert.deepEqual(
      body.guardrails.map(({ guardrail_id, allowed, blocked, unavailable }) => [
        guardrail_id,
        allowed,
        blocked,
        unavailable,
      ]),
      [[id, 19, 1, 1]],
    );
    assert.deepEqual((await room.call('getGuardrailTotals', room.globex)).body.guardrails, []);
  });

  it('count the streams and embeddings that it would refuse where it is bound', async () => {
    const counted = async (query: RouteQuery<'getGuardrailStats'> = {}) => {
      const { streaming_requests, embedding_requests } = await stats(query);
      return [streaming_requests, embedding_requests];
    };
    assert.deepEqual(await counted(), [0, 0]);
    assert.deepEqual(await counted({ bound_to: 'global' }), [4, 1]);
    assert.deepEqual(await counted({ bound_to: `lane:${made.lane.id}` }), [2, 1]);
    // The endpoint is in the lane, so every request of the lane may reach it.
    assert.deepEqual(await counted({ bound_to: `endpoint:${made.endpoint.id}` }), [3, 1]);
    assert.deepEqual(
      await counted({ bound_to: `provider:${made.provider.id},lane:${made.lane.id}` }),
      [3, 1],
    );
    const bindings = [{ target_type: 'lane', target_id: made.lane.id } as const];
    await room.call('replaceGuardrailBindings', room.acme, { id, body: { bindings } });
    assert.deepEqual(await counted(), [2, 1]);
    assert.deepEqual(await counted({ bound_to: '' }), [0, 0]);
    assert.deepEqual(await counted({ bucket: 'day' }), [3, 1]);
    await assert.rejects(stats({ bound_to: 'lane:nonsense' }), refusal('invalid_request', 'bound_to'));
    await assert.rejects(stats({ bound_to: 'planet:earth' }), refusal('invalid_request', 'bound_to'));
  });

  it('are not told to another organization', async () => {
    await assert.rejects(room.call('getGuardrailStats', room.globex, { id }), refusal('not_found'));
  });

  it('of a quarter of a million sums read no table from end to end, and nothing of the ledger', async () => {
    const { organizationId } = room.acme;
    const minutes = 2 * 24 * 60;
    const organizations = [organizationId, ...Array.from({ length: 7 }, () => randomUUIDv7())];
    const guardrails = [id, ...Array.from({ length: 10 }, () => randomUUIDv7())];
    for (const organization of organizations)
      await sql`insert into guardrail_rollups (organization_id, bucket, bucket_start, guardrail_id, allowed, latency_bins, latency_counts)
        select ${organization}::uuid, 'minute', to_timestamp(${nowMs / 1_000}) - n * interval '1 minute', guardrail, 1, array[12], array[1]
        from unnest(${guardrails}::uuid[]) guardrail, generate_series(1, ${minutes}::int) n on conflict do nothing`.execute(
        room.db,
      );
    await sql`analyze guardrail_rollups`.execute(room.db);
    await sql`analyze request_rollups`.execute(room.db);
    const range = { bucket: 'minute', fromMs: nowMs - DAY_MS, toMs: nowMs } as const;
    const lane = { global: false, laneIds: [made.lane.id], providerIds: [], endpointIds: [made.endpoint.id] };
    const planOf = async (query: RawBuilder<unknown>) => {
      const lines = await sql<{ 'QUERY PLAN': string }>`explain ${query}`.execute(
        room.ofOrganization(organizationId),
      );
      return lines.rows.map((line) => line['QUERY PLAN']).join('\n');
    };
    for (const query of [verdictsQuery(organizationId, range), verdictsQuery(organizationId, range, id)]) {
      const plan = await planOf(query);
      assert.match(plan, /guardrail_rollups_minute_pkey/);
      assert.doesNotMatch(plan, /Seq Scan|_hour|_day| on requests/);
    }
    assert.doesNotMatch(
      await planOf(uninspectableQuery(organizationId, range, lane)),
      / on requests|Seq Scan on guardrail/,
    );
  });
});
