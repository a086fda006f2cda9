import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTcpProxy } from '@relay/testbed';
import { sql } from 'kysely';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { type MigratedDatabase, migratedDatabase } from '../store/fixtures/migrated-database.fixture.ts';
import { privateRedis } from '../store/fixtures/private-redis.fixture.ts';
import { createDatabase } from '../store/postgres/postgres.ts';
import { usageStreamOf } from '../store/redis/shards.ts';
import { startLedgerWorker } from './ledger-worker.ts';
import { sampleRecord } from './request-records.fixture.ts';
import { createPostgresLedger } from './sinks/postgres-ledger.ts';
import { testSealer } from './test-sealer.fixture.ts';
import { createSendUsage } from './usage-stream.ts';

const log = createLog('silent');
const RECORDS = 9_000;
const RECORDS_PER_ENTRY = 20;

describe('a backlog', () => {
  const redis = privateRedis();
  let migrated: MigratedDatabase;
  before(async () => {
    migrated = await migratedDatabase();
  });
  after(() => migrated.drop());

  async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
    const endMs = performance.now() + 50_000;
    while (!(await holds())) {
      assert.ok(performance.now() < endMs, what);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async function waitingEntries(): Promise<number> {
    let sum = 0;
    for (const prefix of await redis().shards.list())
      sum += Number(await redis().run(['XLEN', usageStreamOf(prefix)]));
    return sum;
  }

  async function written(): Promise<{ rows: number; counted: number }> {
    const { rows } = await sql<{ rows: number; counted: number }>`
      select (select count(*)::integer from requests) as rows,
        (select coalesce(sum(requests_completed), 0)::integer from request_rollups
          where bucket = 'minute' and family = 'caller') as counted`.execute(migrated.db);
    return rows[0] ?? { rows: 0, counted: 0 };
  }

  it('is written once although PostgreSQL fails while one portion is written and the next one is read', async () => {
    const postgres = await startTcpProxy({ target: migrated.url });
    const database = createDatabase({ url: postgres.url, log });
    const [busy, quiet] = [sampleRecord(), sampleRecord()];
    const send = createSendUsage(redis());
    for (let count = 0; count < RECORDS; count += RECORDS_PER_ENTRY) {
      // One shard has nearly all of it.
      const { organizationId } = count % (10 * RECORDS_PER_ENTRY) === 0 ? quiet : busy;
      const records = Array.from({ length: RECORDS_PER_ENTRY }, () => sampleRecord({ organizationId }));
      await send(
        organizationId,
        records.flatMap((record) => ['r', JSON.stringify(record)]),
      );
    }
    const { db } = database;
    const ledger = createPostgresLedger({ db, clock: systemClock, copies: true });
    const worker = startLedgerWorker({
      redis: redis(),
      ledger,
      db,
      clock: systemClock,
      sealer: testSealer,
      log,
      consumer: 'one',
    });
    try {
      await until(async () => (await written()).rows > 0, 'the worker does not write');
      await postgres.refuse();
      assert.ok((await waitingEntries()) > 0, 'the backlog is gone before PostgreSQL fails');
      await postgres.heal();
      await until(async () => (await waitingEntries()) === 0, 'entries stay in the streams');
      assert.deepEqual(await written(), { rows: RECORDS, counted: RECORDS });
    } finally {
      await worker.stop();
      await database.close();
      await postgres.close();
    }
  });
});
