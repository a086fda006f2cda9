import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createRandom, testSeed } from '@relay/testbed/random';
import { sql } from 'kysely';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import { type MigratedDatabase, migratedDatabase } from '../../fixtures/migrated-database.fixture.ts';
import { appendRequests } from '../append-requests.ts';
import { arrivedMsOf, sentAttemptsOf } from '../attempts-of-row.ts';
import { ensureLedgerPartitions } from '../ledger-partitions.ts';
import { randomAttempts, sampleRow } from '../ledger-row.fixture.ts';
import type { LedgerRow } from '../ledger-row.ts';

const START_MS = Date.parse('2026-03-10T22:00:00.000Z');
const ids = (count: number) => Array.from({ length: count }, () => randomUUIDv7());
const random = createRandom(testSeed());
const any = <T>(list: readonly T[]): T => random.pick(list);

const [users, keys, endpoints, lanes, providers, credentials] = [2, 4, 3, 2, 2, 2].map(ids) as [
  string[],
  string[],
  string[],
  string[],
  string[],
  string[],
];

const KEY = sql`organization_id, bucket, family, bucket_start, user_id, key_id, endpoint_id, lane_id, provider_id, credential_id`;
const SUMS = [
  'requests_completed',
  'requests_failed',
  'requests_cancelled',
  'requests_metered',
  'requests_estimated',
  'requests_streaming',
  'requests_waited',
  'requests_embeddings',
  'fallbacks',
  'wait_ms_sum',
  'latency_ms_sum',
  'further_attempts',
  'further_metered',
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'cost_micros',
  'cost_rounding_picos',
  'fallback_cost_micros',
  'fallback_cost_rounding_picos',
] as const;

/** The sums as PostgreSQL computes them from the rows: of requests by arrival, and of attempts by dispatch. */
const EXPECTED = sql`
  with counted as (
    select ${arrivedMsOf('request')} as at_ms, organization_id, user_id, key_id, lane_id, endpoint_id, provider_id, credential_id,
      (state = 'completed')::int as requests_completed, (state = 'failed')::int as requests_failed,
      (state = 'cancelled')::int as requests_cancelled, (usage_source <> 'none')::int as requests_metered,
      (usage_source = 'estimated')::int as requests_estimated, streaming::int as requests_streaming,
      (state = 'completed' and wait_ms > 0)::int as requests_waited, (operation = 'embeddings')::int as requests_embeddings,
      fallback_count as fallbacks, wait_ms as wait_ms_sum, latency_ms as latency_ms_sum,
      -(usage_source <> 'none')::int as further_attempts, -(usage_source <> 'none')::int as further_metered,
      0 as input_tokens, 0 as cached_input_tokens, 0 as output_tokens, 0 as cost_micros, 0 as cost_rounding_picos,
      0 as fallback_cost_micros, 0 as fallback_cost_rounding_picos
    from requests as request
    union all
    select dispatched_ms, organization_id, user_id, key_id, lane_id, sent.endpoint_id::uuid, sent.provider_id::uuid, sent.credential_id::uuid,
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, (source <> 'none')::int, input_tokens, cached_input_tokens, output_tokens, cost_micros,
      cost_rounding_picos, is_followed::int * cost_micros, is_followed::int * cost_rounding_picos
    from requests as request cross join lateral ${sentAttemptsOf('request')} as sent)
  select organization_id, bucket, family, date_trunc(bucket, to_timestamp(at_ms / 1000.0), 'UTC') as bucket_start,
    case family when 'caller' then user_id end as user_id, case family when 'caller' then key_id end as key_id,
    endpoint_id, lane_id, provider_id, case family when 'resource' then credential_id end as credential_id,
    max(wait_ms_sum) as wait_ms_max, ${sql.join(SUMS.map((sum) => sql`sum(${sql.ref(sum)})::bigint`))}
  from counted, unnest(array['minute', 'hour', 'day']) as bucket, unnest(array['resource', 'caller']) as family
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`;

describe('sums in the ledger', () => {
  let migrated: MigratedDatabase;
  const organizations = ids(2);

  before(async () => {
    migrated = await migratedDatabase();
    await ensureLedgerPartitions(migrated.db, '2026-03-10', '2026-03-11');
  });
  after(() => migrated.drop());

  /** Any time within six hours around midnight. */
  function row(over: Partial<LedgerRow> = {}): LedgerRow {
    const timeMs = START_MS + Math.floor(random.next() * 6 * 3_600_000);
    const usage_source = any(['reported', 'streamed', 'estimated', 'none'] as const);
    return sampleRow({
      request_id: smallestUuidAt(timeMs).slice(0, 14) + randomUUIDv7().slice(14),
      organization_id: any(organizations),
      user_id: any(users),
      key_id: any([...keys, null]),
      endpoint_id: any(endpoints),
      lane_id: any([...lanes, null]),
      provider_id: any(providers),
      credential_id: any([...credentials, null]),
      operation: any(['chat', 'responses', 'embeddings'] as const),
      streaming: any([true, false]),
      state: any(['completed', 'failed', 'cancelled'] as const),
      usage_source,
      actual_input_tokens: usage_source === 'none' ? null : Math.floor(random.next() * 100),
      actual_output_tokens: usage_source === 'none' ? null : Math.floor(random.next() * 100),
      actual_cost_micros: usage_source === 'none' ? null : Math.floor(random.next() * 1_000),
      wait_ms: any([0, 0, 30, 4_000]),
      latency_ms: Math.floor(random.next() * 10_000),
      fallback_count: any([0, 0, 1]),
      actual_cost_rounding_picos: usage_source === 'none' ? 0 : Math.floor(random.next() * 1_000),
      attempts: random.next() < 0.85 ? [] : randomAttempts(random, { endpoints, providers, credentials }),
      ...over,
    });
  }

  /** The number of rollups, and how many of them differ from the rows' sums. */
  async function compare(): Promise<{ sums: number; wrong: number }> {
    const { rows } = await sql<{ sums: number; wrong: number }>`
      with expected as (${EXPECTED}), actual as (
        select ${KEY}, wait_ms_max, ${sql.join(SUMS.map((sum) => sql.ref(sum)))} from request_rollups
        where requests_completed + requests_failed + requests_cancelled > 0 or requests_metered + further_attempts <> 0)
      select (select count(*) from actual)::int as sums,
        (select count(*) from ((table expected except table actual) union all (table actual except table expected)) as differing)::int
          as wrong`.execute(migrated.db);
    return rows[0] ?? { sums: -1, wrong: -1 };
  }

  async function rowOf(requestId: string) {
    return migrated.db
      .selectFrom('requests')
      .select(['state', 'error_code', 'latency_ms'])
      .where('request_id', '=', requestId)
      .execute();
  }

  const estimateOf = ({ request_id }: LedgerRow) =>
    row({
      request_id,
      state: 'failed',
      status: 500,
      error_code: 'gateway_lost',
      usage_source: 'estimated',
      actual_input_tokens: 30,
      actual_output_tokens: 40,
      actual_cost_micros: 700,
      wait_ms: 0,
    });

  it('are what the rows come to, however rows are sent and however often', async () => {
    const rows = Array.from({ length: 600 }, () => row());
    const batches = [
      rows.slice(0, 400),
      rows.slice(200),
      rows,
      ...rows.slice(0, 20).map((each) => [each]),
    ].map((batch) => appendRequests(migrated.db, batch));
    const written = await Promise.all(batches);
    assert.equal(written.flat().length, 600);
    const { sums, wrong } = await compare();
    assert.ok(sums > 600);
    assert.equal(wrong, 0);
  });

  it('are nothing when the transaction of the rows is not committed', async () => {
    const before = await compare();
    const broken = migrated.db.transaction().execute(async (tx) => {
      await appendRequests(tx, [row()]);
      throw new Error('the writer died');
    });
    await assert.rejects(broken, /died/);
    assert.deepEqual(await compare(), before);
  });

  it('a record that comes after its estimate replaces it once, however many bring it', async () => {
    const real = Array.from({ length: 40 }, () => row({ state: 'completed' }));
    await appendRequests(migrated.db, real.map(estimateOf));
    assert.equal((await compare()).wrong, 0);
    const written = await Promise.all(
      [real, real.toReversed(), real.slice(10, 30)].map((batch) => appendRequests(migrated.db, batch)),
    );
    assert.deepEqual(written.flat().sort(), real.map(({ request_id }) => request_id).sort());
    for (const { request_id, latency_ms } of real)
      assert.deepEqual(await rowOf(request_id), [{ state: 'completed', error_code: null, latency_ms }]);
    assert.equal((await compare()).wrong, 0);
    const { rows } = await sql<{ least: number }>`
      select min(count)::int as least from request_rollups, unnest(latency_counts || wait_counts) as count`.execute(
      migrated.db,
    );
    assert.equal(rows[0]?.least, 0);
  });

  it('an estimate never replaces a record, nor another estimate', async () => {
    const real = row({ state: 'completed' });
    await appendRequests(migrated.db, [real]);
    const before = await compare();
    assert.deepEqual(await appendRequests(migrated.db, [estimateOf(real)]), []);
    assert.deepEqual(await rowOf(real.request_id), [
      { state: 'completed', error_code: null, latency_ms: real.latency_ms },
    ]);
    const lost = estimateOf(row());
    assert.equal((await appendRequests(migrated.db, [lost])).length, 1);
    assert.deepEqual(await appendRequests(migrated.db, [{ ...lost, latency_ms: 1 }]), []);
    assert.equal((await rowOf(lost.request_id))[0]?.latency_ms, lost.latency_ms);
    const after = await compare();
    assert.equal(after.wrong, 0);
    assert.ok(after.sums >= before.sums);
  });

  it('writers that meet at the same sums in any order never wait for one another in turn', async () => {
    const shared = Array.from({ length: 8 }, () => Array.from({ length: 250 }, () => row()));
    await Promise.all(shared.map((rows) => appendRequests(migrated.db, rows)));
    assert.equal((await compare()).wrong, 0);
    const { rows } = await sql<{ deadlocks: number }>`
      select deadlocks from pg_stat_database where datname = current_database()`.execute(migrated.db);
    assert.deepEqual(rows, [{ deadlocks: 0 }]);
  });

  it('bins that there are get more, and new ones follow them', async () => {
    for (const [had, more, sum] of [
      [
        [[], []],
        [[], []],
        [[], []],
      ],
      [
        [[], []],
        [
          [7, 3],
          [1, 2],
        ],
        [
          [7, 3],
          [1, 2],
        ],
      ],
      [
        [
          [7, 3],
          [1, 2],
        ],
        [[], []],
        [
          [7, 3],
          [1, 2],
        ],
      ],
      [
        [
          [7, 3],
          [1, 2],
        ],
        [[3], [4]],
        [
          [7, 3],
          [1, 6],
        ],
      ],
      [
        [
          [7, 3],
          [1, 2],
        ],
        [
          [9, 7, 1_000],
          [5, -1, 1],
        ],
        [
          [7, 3, 9, 1_000],
          [0, 2, 5, 1],
        ],
      ],
    ] as const) {
      const { rows } = await sql`select add_bins(${had[0]}::int[], ${more[0]}::int[]) as bins,
        add_counts(${had[0]}::int[], ${had[1]}::bigint[], ${more[0]}::int[], ${more[1]}::bigint[])::int[] as counts`.execute(
        migrated.db,
      );
      assert.deepEqual(rows, [{ bins: sum[0], counts: sum[1] }]);
    }
  });

  it('the durations of every bucket are those of its rows', async () => {
    const wrong = await sql`
      with rows as (
        select organization_id, lane_id, date_trunc('hour', to_timestamp(
            ('x' || left(replace(request_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0), 'UTC') as at, wait_ms, latency_ms
        from requests),
      expected as (
        select organization_id, lane_id, at, kind, ms, count(*) as count
        from rows, lateral (values ('wait', wait_ms), ('latency', latency_ms)) as each (kind, ms)
        where ms <= 1000 group by 1, 2, 3, 4, 5),
      kept as (
        select organization_id, lane_id, bucket_start, kind, bin, sum(count)::bigint
        from request_rollups, lateral (
          select 'wait' as kind, * from unnest(wait_bins, wait_counts) as bins (bin, count)
          union all select 'latency', * from unnest(latency_bins, latency_counts) as bins (bin, count)) as each
        where bucket = 'hour' and family = 'caller' and bin <= 1000 group by 1, 2, 3, 4, 5 having sum(count) <> 0)
      (table expected except table kept) union all (table kept except table expected)`.execute(migrated.db);
    assert.deepEqual(wrong.rows, []);
  });
});
