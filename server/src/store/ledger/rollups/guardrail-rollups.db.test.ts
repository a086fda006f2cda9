import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createRandom, testSeed } from '@relay/testbed/random';
import { sql } from 'kysely';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import { type MigratedDatabase, migratedDatabase } from '../../fixtures/migrated-database.fixture.ts';
import { appendRequests } from '../append-requests.ts';
import type { StoredTrace } from '../ledger-json.ts';
import { ensureLedgerPartitions } from '../ledger-partitions.ts';
import { sampleRow } from '../ledger-row.fixture.ts';
import type { LedgerRow } from '../ledger-row.ts';
import { VERDICTS } from './guardrail-rollups.ts';

const START_MS = Date.parse('2026-03-10T22:00:00.000Z');
const random = createRandom(testSeed());
const any = <T>(list: readonly T[]): T => random.pick(list);

/** The sums as PostgreSQL computes them from the rows' traces. */
const EXPECTED = sql`
  select organization_id, bucket, date_trunc(bucket, arrived_at, 'UTC') as bucket_start, (said->>'guardrail_id')::uuid as guardrail_id,
    ${sql.join(VERDICTS.map((verdict) => sql`count(*) filter (where said->>'verdict' = ${sql.lit(verdict)})`))},
    count(*) as latencies
  from (select *, to_timestamp(('x' || left(replace(request_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) as arrived_at
    from requests) as rows,
    unnest(array['minute', 'hour', 'day']) as bucket, jsonb_array_elements(trace->'guardrails') as said
  group by 1, 2, 3, 4`;

describe('sums of what guardrails said', () => {
  let migrated: MigratedDatabase;
  const organizations = [randomUUIDv7(), randomUUIDv7()];
  const guardrails = [randomUUIDv7(), randomUUIDv7(), randomUUIDv7()];

  before(async () => {
    migrated = await migratedDatabase();
    await ensureLedgerPartitions(migrated.db, '2026-03-10', '2026-03-11');
  });
  after(() => migrated.drop());

  function row(): LedgerRow {
    const timeMs = START_MS + Math.floor(random.next() * 6 * 3_600_000);
    const said: StoredTrace['guardrails'] = guardrails.slice(0, any([0, 1, 3])).map((guardrail_id) => ({
      guardrail_id,
      stage: 'pre_dispatch',
      verdict: any(VERDICTS),
      latency_ms: Math.floor(random.next() * 5_000),
    }));
    return sampleRow({
      request_id: smallestUuidAt(timeMs).slice(0, 14) + randomUUIDv7().slice(14),
      organization_id: any(organizations),
      trace: any([{ timings: null, candidates: [], guardrails: said }, null]),
    });
  }

  async function compare(): Promise<{ sums: number; wrong: number }> {
    const { rows } = await sql<{ sums: number; wrong: number }>`
      with expected as (${EXPECTED}), actual as (
        select organization_id, bucket, bucket_start, guardrail_id, ${sql.join(VERDICTS.map((verdict) => sql.ref(verdict)))},
          (select sum(count) from unnest(latency_counts) as count)::bigint as latencies
        from guardrail_rollups
      )
      select (select count(*) from actual)::int as sums,
        (select count(*) from ((table expected except table actual) union all (table actual except table expected)) as differing)::int
          as wrong`.execute(migrated.db);
    return rows[0] ?? { sums: -1, wrong: -1 };
  }

  it('are what the traces come to, however rows are sent and however often', async () => {
    const rows = Array.from({ length: 600 }, row);
    const batches = [rows.slice(0, 400), rows.slice(200), rows, ...rows.slice(0, 20).map((each) => [each])];
    await Promise.all(batches.map((batch) => appendRequests(migrated.db, batch)));
    const { sums, wrong } = await compare();
    assert.ok(sums > 300);
    assert.equal(wrong, 0);
  });

  it('count what comes after the estimate of a lost gateway, once', async () => {
    const real = Array.from({ length: 40 }, row);
    const lost = {
      state: 'failed',
      error_code: 'gateway_lost',
      usage_source: 'estimated',
      trace: null,
    } as const;
    await appendRequests(
      migrated.db,
      real.map((each) => ({ ...each, ...lost })),
    );
    await Promise.all([real, real.toReversed()].map((batch) => appendRequests(migrated.db, batch)));
    assert.equal((await compare()).wrong, 0);
  });

  it('leave out a verdict of a later version, and keep its row', async () => {
    const said = { guardrail_id: randomUUIDv7(), stage: 'pre_dispatch', latency_ms: 1 } as const;
    const later = { ...said, verdict: 'pondered' as 'allowed' };
    const trace = { timings: null, candidates: [], guardrails: [later] };
    assert.equal((await appendRequests(migrated.db, [{ ...row(), trace }])).length, 1);
    const found = await migrated.db
      .selectFrom('guardrail_rollups')
      .selectAll()
      .where('guardrail_id', '=', said.guardrail_id)
      .execute();
    assert.deepEqual(found, []);
  });
});
