import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type CompiledQuery, sql } from 'kysely';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import { type MigratedDatabase, migratedDatabase } from '../../fixtures/migrated-database.fixture.ts';
import { appendRequests } from '../append-requests.ts';
import { ensureLedgerPartitions, utcDayOf } from '../ledger-partitions.ts';
import { sampleRow } from '../ledger-row.fixture.ts';
import { nextOutboxEntry, readOutboxBacklog } from './outbox.ts';
import { rowsQuery } from './read-rows.ts';

const FIRST_DAY = '2026-10-01';
const LAST_DAY = '2026-11-09';

describe('what a sink reads', () => {
  let migrated: MigratedDatabase;
  before(async () => {
    migrated = await migratedDatabase();
    await ensureLedgerPartitions(migrated.db, FIRST_DAY, LAST_DAY);
  });
  after(() => migrated.drop());

  async function plan(query: CompiledQuery): Promise<string> {
    return migrated.db.connection().execute(async (db) => {
      await sql`set enable_seqscan = off`.execute(db);
      const { rows } = await db.executeQuery<{ 'QUERY PLAN': string }>({
        ...query,
        sql: `explain ${query.sql}`,
      });
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
  }

  it('of the ledger is found by the primary key, in the partitions of its ids alone', async () => {
    const ids = ['2026-10-20T12:00:00Z', '2026-10-21T01:00:00Z'].map((time) =>
      smallestUuidAt(Date.parse(time)),
    );
    const text = await plan(rowsQuery(migrated.db, ids).compile());
    const partitions = new Set(text.match(/requests_2026\d{4}/g));
    assert.deepEqual([...partitions].sort(), ['requests_20261020', 'requests_20261021']);
    assert.match(text, /Index (Only )?Scan|Bitmap Index Scan/);
    assert.doesNotMatch(text, /Seq Scan/);
  });

  it('of the outbox is the oldest entry first, each once', async () => {
    const today = utcDayOf(Date.now());
    await ensureLedgerPartitions(migrated.db, today, today);
    for (let batch = 0; batch < 3; batch += 1)
      await appendRequests(migrated.db, [sampleRow(), sampleRow()], { sinks: ['a', 'b'] });
    assert.equal((await readOutboxBacklog(migrated.db, 'a')).rows, 6);
    const ids = new Set<string>();
    let entry = await nextOutboxEntry(migrated.db, 'b', null);
    for (; entry !== null; entry = await nextOutboxEntry(migrated.db, 'b', entry))
      for (const id of entry.requestIds) ids.add(id);
    assert.equal(ids.size, 6);
    assert.equal(await nextOutboxEntry(migrated.db, 'c', null), null);
  });
});
