import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { sql } from 'kysely';
import type { RequestRecord } from '../domain/request-record.ts';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import {
  type MigratedDatabase,
  migratedDatabase,
  silentLog,
} from '../store/fixtures/migrated-database.fixture.ts';
import { createDatabase } from '../store/postgres/postgres.ts';
import { createRedis, type Redis } from '../store/redis/redis.ts';
import { prefixOf, usageStreamOf } from '../store/redis/shards.ts';
import { startLedgerWorker } from './ledger-worker.ts';
import { sampleRecord } from './request-records.fixture.ts';
import { createPostgresLedger } from './sinks/postgres-ledger.ts';
import { testSealer } from './test-sealer.fixture.ts';

const WORKERS = 4;
const RECORDS = 20_000;
const RECORDS_PER_ENTRY = 20;

const ids = (count: number) => Array.from({ length: count }, () => randomUUIDv7());

describe('four workers on the same rollups', () => {
  let migrated: MigratedDatabase;
  let server: PrivateRedis;
  let redis: Redis;

  before(async () => {
    [migrated, server] = await Promise.all([migratedDatabase(), startRedis()]);
    redis = createRedis({
      url: server.url,
      clock: systemClock,
      log: createLog('silent'),
      commandTimeoutMs: 10_000,
    });
    await redis.whenReady(60_000);
  });
  after(async () => {
    await redis.close();
    await server.remove();
    await migrated.drop();
  });

  /** Few organizations, users and endpoints, so that all workers update the same rollups. */
  function makeRecords(): RequestRecord[] {
    const [organizations, users, endpoints] = [ids(3), ids(5), ids(4)];
    return Array.from({ length: RECORDS }, (_, index) =>
      sampleRecord({
        organizationId: organizations[index % 3] ?? '',
        userId: users[index % 5] ?? '',
        keyId: users[(index + 1) % 5] ?? '',
        endpointId: endpoints[(index >> 2) % 4] ?? '',
        providerId: endpoints[0] ?? '',
        actualInputTokens: index % 97,
        actualCostMicros: index % 89,
      }),
    );
  }

  async function send(records: readonly RequestRecord[]): Promise<void> {
    const entries: Promise<unknown>[] = [];
    const waiting = new Map<string, string[]>();
    for (const record of records) {
      const prefix = prefixOf(record.organizationId);
      const stream = usageStreamOf(prefix);
      redis.shards.use(prefix);
      const fields = [...(waiting.get(stream) ?? []), 'r', JSON.stringify(record)];
      if (fields.length < 2 * RECORDS_PER_ENTRY) {
        waiting.set(stream, fields);
        continue;
      }
      waiting.delete(stream);
      // Sent twice, as after a lost reply. Another worker may read the second entry.
      for (let times = 0; times < 2; times += 1) entries.push(redis.run(['XADD', stream, '*', ...fields]));
      if (entries.length >= 100) await Promise.all(entries.splice(0));
    }
    for (const [stream, fields] of waiting) entries.push(redis.run(['XADD', stream, '*', ...fields]));
    await Promise.all(entries);
  }

  async function untilWritten(): Promise<void> {
    const endMs = performance.now() + 120_000;
    for (;;) {
      const { rows } = await sql<{ count: number }>`select count(*)::int as count from requests`.execute(
        migrated.db,
      );
      if (rows[0]?.count === RECORDS) return;
      assert.ok(performance.now() < endMs, `${rows[0]?.count} rows instead of ${RECORDS}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  it('write every record once and count it once in every rollup, without a deadlock', async () => {
    const records = makeRecords();
    await send(records);
    const databases = Array.from({ length: WORKERS }, () =>
      createDatabase({ url: migrated.url, log: silentLog, statementTimeoutMs: 30_000 }),
    );
    const refusals: unknown[] = [];
    const log = {
      ...createLog('silent'),
      warn({ err }: { err?: { code?: string } }) {
        // Timeouts are retried; this test is about deadlocks.
        if (err?.code !== 'store_unavailable') refusals.push(err);
      },
    };
    const workers = databases.map(({ db }, index) =>
      startLedgerWorker({
        redis,
        ledger: createPostgresLedger({ db, clock: systemClock, copies: true }),
        db,
        clock: systemClock,
        sealer: testSealer,
        log,
        consumer: `worker-${index}`,
      }),
    );
    await untilWritten();
    await Promise.all(workers.map((worker) => worker.stop()));
    await Promise.all(databases.map((database) => database.close()));
    assert.deepEqual(refusals, []);
    const counts = workers.map((worker) => worker.counts().rows);
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      RECORDS,
    );
    assert.ok(counts.filter((count) => count > 0).length > 1, `one did it all: ${counts}`);

    const tokens = records.reduce((sum, { actualInputTokens }) => sum + actualInputTokens, 0);
    const cost = records.reduce((sum, { actualCostMicros }) => sum + (actualCostMicros ?? 0), 0);
    const { rows } = await sql<object>`
      select bucket || ' ' || family as sums, sum(requests_completed)::int as requests, sum(input_tokens)::int as tokens,
        sum(cost_micros)::int as cost, (select sum(count)::int from request_rollups as inner_sums,
          unnest(latency_counts) as count
          where inner_sums.bucket = request_rollups.bucket and inner_sums.family = request_rollups.family) as latencies
      from request_rollups group by bucket, family order by 1`.execute(migrated.db);
    assert.deepEqual(
      rows,
      ['day', 'hour', 'minute'].flatMap((bucket) =>
        ['caller', 'resource'].map((family) => ({
          sums: `${bucket} ${family}`,
          requests: RECORDS,
          tokens,
          cost,
          latencies: RECORDS,
        })),
      ),
    );
    const { rows: stats } = await sql`
      select deadlocks from pg_stat_database where datname = current_database()`.execute(migrated.db);
    assert.deepEqual(stats, [{ deadlocks: 0 }]);
  });
});
