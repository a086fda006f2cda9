import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type RedisCluster, startRedisCluster } from '@relay/testbed';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { type MigratedDatabase, migratedDatabase } from '../store/fixtures/migrated-database.fixture.ts';
import { createRedis, type Redis } from '../store/redis/redis.ts';
import { prefixOf } from '../store/redis/shards.ts';
import { spoolBefore, spoolDirectory, usageBefore } from './kept-usage.fixture.ts';
import { startLedgerWorker } from './ledger-worker.ts';
import { sampleRecord } from './request-records.fixture.ts';
import { createPostgresLedger } from './sinks/postgres-ledger.ts';
import { testSealer } from './test-sealer.fixture.ts';

const log = createLog('silent');

describe('records on their way to the ledger, on a cluster', () => {
  let migrated: MigratedDatabase;
  let cluster: RedisCluster;
  let redis: Redis;

  before(async () => {
    [migrated, cluster] = await Promise.all([migratedDatabase(), startRedisCluster()]);
    redis = createRedis({ url: cluster.urls.join(','), clock: systemClock, log, commandTimeoutMs: 10_000 });
    await redis.whenReady(60_000);
  });
  after(async () => {
    await redis.close();
    await cluster.remove();
    await migrated.drop();
  });

  async function untilRows(count: number): Promise<void> {
    const endMs = performance.now() + 20_000;
    for (;;) {
      const rows = await migrated.db.selectFrom('requests').select('request_id').execute();
      if (rows.length === count) return;
      assert.ok(performance.now() < endMs, `${rows.length} rows instead of ${count}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  it('records of many shards become rows, including those sent while a master was unavailable', async () => {
    using directory = spoolDirectory();
    const spool = spoolBefore(redis, directory.path);
    const sink = usageBefore(redis, spool.record);
    const worker = startLedgerWorker({
      redis,
      ledger: createPostgresLedger({ db: migrated.db, clock: systemClock, copies: true }),
      db: migrated.db,
      clock: systemClock,
      sealer: testSealer,
      log,
      consumer: 'worker',
    });
    const shards = new Set<string>();
    function append(): void {
      const record = sampleRecord();
      shards.add(prefixOf(record.organizationId));
      sink.append(record.organizationId, JSON.stringify(record));
    }
    for (let count = 0; count < 400; count += 1) append();
    await untilRows(400);
    assert.ok(shards.size > 200, `only ${shards.size} shards`);
    await cluster.nodes[1]?.kill();
    for (let count = 0; count < 400; count += 1) append();
    await cluster.nodes[1]?.start();
    await untilRows(800);
    assert.equal(await sink.close(1_000), 0);
    assert.deepEqual(await spool.stop(1_000), { kept: 0, lost: 0 });
    await worker.stop();
    assert.deepEqual(worker.counts(), { rows: 800, poisoned: 0 });
  });
});
