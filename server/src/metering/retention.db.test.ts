import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it, mock } from 'node:test';
import { sql } from 'kysely';
import { createLog } from '../kit/log.ts';
import { uuidAt } from '../kit/uuid-time.ts';
import { type MigratedDatabase, migratedDatabase } from '../store/fixtures/migrated-database.fixture.ts';
import { appendRequests } from '../store/ledger/append-requests.ts';
import { ensureLedgerPartitions, ledgerDays, utcDayOf } from '../store/ledger/ledger-partitions.ts';
import { sampleRow } from '../store/ledger/ledger-row.fixture.ts';
import { applyRetention, type RetentionDeps } from './retention.ts';

const NOW_MS = Date.now();
const DAY_MS = 86_400_000;

const daysAgo = (days: number) => utcDayOf(NOW_MS - days * DAY_MS);

describe('retention', () => {
  let migrated: MigratedDatabase;
  let deps: RetentionDeps;
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });

  before(async () => {
    migrated = await migratedDatabase();
    deps = { db: migrated.db, log, ledgerDays: 30 };
    await addRow(0);
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

  async function addRow(daysOld: number): Promise<void> {
    await ensureLedgerPartitions(migrated.db, daysAgo(daysOld), daysAgo(daysOld));
    const row = sampleRow({ request_id: uuidAt(NOW_MS - daysOld * DAY_MS) });
    await appendRequests(migrated.db, [row]);
  }

  async function emptyLedger(): Promise<void> {
    for (const day of await ledgerDays(migrated.db))
      await sql`drop table ${sql.table(`requests_${day.replaceAll('-', '')}`)}`.execute(migrated.db);
    await migrated.db.deleteFrom('announced_drops').execute();
    await migrated.db.deleteFrom('request_rollups').execute();
    lines.length = 0;
  }

  async function anHourLater(): Promise<void> {
    await sql`update announced_drops set announced_at = announced_at - interval '1 hour'`.execute(
      migrated.db,
    );
  }

  it('removes expired rows in batches, and nothing else', async () => {
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
    const { 'minute 0': _now, 'hour 0': _hour, 'day 0': _day, ...others } = await sums();
    assert.deepEqual(others, { 'day 5000': 10, 'hour 99': 10, 'minute 7': 10 });
    const notes = await migrated.db.selectFrom('poisoned_usage').select('entry_id').execute();
    assert.deepEqual(notes, [{ entry_id: '99-0' }]);
  });

  it('announces two expired days, and drops them an hour later', async () => {
    await emptyLedger();
    for (const daysOld of [40, 35, 34, 33, 29, 0]) await addRow(daysOld);
    await applyRetention(deps);
    assert.equal((await ledgerDays(migrated.db)).length, 6);
    assert.match(
      lines.join(''),
      new RegExp(`"days":\\["${daysAgo(40)}","${daysAgo(35)}"\\].*will be dropped`),
    );
    await applyRetention(deps);
    assert.equal((await ledgerDays(migrated.db)).length, 6, 'the hour is not over');
    await anHourLater();
    await Promise.all([applyRetention(deps), applyRetention(deps), applyRetention(deps)]);
    await applyRetention(deps);
    assert.deepEqual(await ledgerDays(migrated.db), [34, 33, 29, 0].map(daysAgo));
    await anHourLater();
    await applyRetention(deps);
    await anHourLater();
    await applyRetention(deps);
    assert.deepEqual(await ledgerDays(migrated.db), [29, 0].map(daysAgo));
  });

  it('forgets what it announced when the retention becomes longer', async () => {
    await emptyLedger();
    for (const daysOld of [40, 0]) await addRow(daysOld);
    await applyRetention(deps);
    await anHourLater();
    await applyRetention({ ...deps, ledgerDays: 50 });
    assert.deepEqual(await ledgerDays(migrated.db), [40, 0].map(daysAgo));
  });

  it('a process whose clock is 500 days ahead removes nothing', async () => {
    await emptyLedger();
    for (const daysOld of [20, 0]) await addRow(daysOld);
    await addSums('minute', 6, 3);
    mock.timers.enable({ apis: ['Date'], now: NOW_MS + 500 * DAY_MS });
    try {
      for (let run = 0; run < 3; run += 1) {
        await applyRetention(deps);
        await anHourLater();
      }
    } finally {
      mock.timers.reset();
    }
    assert.deepEqual(await ledgerDays(migrated.db), [20, 0].map(daysAgo));
    assert.equal((await sums())['minute 6'], 3);
  });

  it('a database whose clock is ahead removes nothing that the newest row would have kept', async () => {
    await emptyLedger();
    for (const daysOld of [520, 500]) await addRow(daysOld);
    await addSums('minute', 505, 3);
    for (let run = 0; run < 3; run += 1) {
      await applyRetention(deps);
      await anHourLater();
    }
    assert.deepEqual(await ledgerDays(migrated.db), [520, 500].map(daysAgo));
    assert.equal((await sums())['minute 505'], 3);
    await emptyLedger();
    await addRow(0);
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
