import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { createLog } from '../kit/log.ts';
import { type MigratedDatabase, migratedDatabase } from '../store/fixtures/migrated-database.fixture.ts';
import { ensureLedgerPartitions } from '../store/ledger/ledger-partitions.ts';
import { applyRetention, type RetentionDeps } from './retention.ts';

const NOW_MS = Date.parse('2026-06-30T12:00:00.000Z');
const DAY_MS = 86_400_000;

describe('retention', () => {
  let migrated: MigratedDatabase;
  let deps: RetentionDeps;

  before(async () => {
    migrated = await migratedDatabase();
    const clock = { nowMs: () => NOW_MS, monotonicMs: () => performance.now() };
    deps = { db: migrated.db, clock, log: createLog('silent'), ledgerDays: 30 };
  });
  after(() => migrated.drop());

  async function addSums(bucket: 'minute' | 'hour' | 'day', daysOld: number, count: number): Promise<void> {
    await sql`insert into request_rollups (organization_id, family, bucket, bucket_start, key_id)
      select ${randomUUIDv7()}, 'caller', ${bucket}, ${new Date(NOW_MS - daysOld * DAY_MS)}, gen_random_uuid()
      from generate_series(1, ${count}::int)`.execute(migrated.db);
  }

  async function sums(): Promise<Record<string, number>> {
    const { rows } = await sql<{ name: string; count: number }>`
      select bucket || ' ' || extract(day from ${new Date(NOW_MS)} - bucket_start) as name, count(*)::int as count
      from request_rollups group by 1 order by 1`.execute(migrated.db);
    return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
  }

  it('removes expired rows in batches, and nothing else', async () => {
    await ensureLedgerPartitions(migrated.db, '2026-05-29', '2026-06-01');
    for (const [bucket, daysOld] of [
      ['minute', 7],
      ['minute', 9],
      ['hour', 99],
      ['hour', 101],
      ['day', 5_000],
    ] as const)
      await addSums(bucket, daysOld, 10);
    await addSums('minute', 20, 12_000);
    await migrated.db
      .insertInto('poisoned_usage')
      .values(
        [99, 101].map((daysOld) => ({
          stream: 'stream',
          entry_id: `${daysOld}-0`,
          place: 0,
          reason: 'reason',
          found_at: new Date(NOW_MS - daysOld * DAY_MS),
        })),
      )
      .execute();
    assert.equal(await applyRetention(deps), true);
    assert.deepEqual(await sums(), { 'day 5000': 10, 'hour 99': 10, 'minute 7': 10 });
    const notes = await migrated.db.selectFrom('poisoned_usage').select('entry_id').execute();
    assert.deepEqual(notes, [{ entry_id: '99-0' }]);
    const { rows } = await sql<{ name: string }>`
      select inhrelid::regclass::text as name from pg_inherits where inhparent = 'requests'::regclass order by 1`.execute(
      migrated.db,
    );
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['requests_20260531', 'requests_20260601'],
    );
  });

  it('stops on request and reports that rows are left', async () => {
    await addSums('minute', 20, 12_000);
    assert.equal(await applyRetention(deps, () => true), false);
    assert.equal((await sums())['minute 20'], 7_000);
    await applyRetention(deps);
  });

  it('skips locked rows instead of waiting for them', async () => {
    await addSums('minute', 20, 3);
    await migrated.db.transaction().execute(async (tx) => {
      await sql`update request_rollups set fallbacks = 1 where ctid = (select min(ctid) from request_rollups_minute where bucket_start < ${new Date(NOW_MS - 9 * DAY_MS)}) and bucket = 'minute'`.execute(
        tx,
      );
      await applyRetention(deps);
      assert.equal((await sums())['minute 20'], 1);
    });
    await applyRetention(deps);
    assert.equal((await sums())['minute 20'], undefined);
  });

  it('finds old rollups by an index', async () => {
    for (const bucket of ['minute', 'hour'] as const) {
      const table = `request_rollups_${bucket}`;
      await addSums(bucket, 1, 5_000);
      await sql`analyze ${sql.table(table)}`.execute(migrated.db);
      const { rows } = await sql<{ 'QUERY PLAN': string }>`
        explain select ctid from ${sql.table(table)} where bucket_start < ${new Date(0)}
        order by bucket_start limit 5000 for update skip locked`.execute(migrated.db);
      assert.doesNotMatch(rows.map((line) => line['QUERY PLAN']).join('\n'), /Seq Scan/);
    }
  });

  it('runs in one process at a time', async () => {
    await addSums('minute', 20, 12_000);
    await Promise.all([applyRetention(deps), applyRetention(deps), applyRetention(deps)]);
    await applyRetention(deps);
    assert.equal((await sums())['minute 20'], undefined);
  });
});
