import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { emptyDatabase, type FreshDatabase } from '@relay/testbed';
import { sql } from 'kysely';
import { changeConfiguration } from '../../configuration/config-version.ts';
import { fillEveryTable } from '../../fixtures/every-table.fixture.ts';
import { silentLog } from '../../fixtures/migrated-database.fixture.ts';
import { openEmbedded } from '../../fixtures/test-database.fixture.ts';
import { appendRequests } from '../../ledger/append-requests.ts';
import { ensureLedgerPartitions, uuidRangeOfDay } from '../../ledger/ledger-partitions.ts';
import { sampleRow } from '../../ledger/ledger-row.fixture.ts';
import { MIGRATION_TIMEOUT_MS, migrateUp } from '../../postgres/migrate.ts';
import { createDatabase, type DatabaseHandle } from '../../postgres/postgres.ts';
import { MoveRefusedError, moveData } from './move-data.ts';
import { quoted, readTables } from './table-catalog.ts';

const DAYS = ['2026-01-31', '2026-02-01', '2026-11-14', '2026-11-15'];
const ROWS = 10_000;

describe('moving from an embedded database to a server', () => {
  let directory: string;
  let source: DatabaseHandle;
  let fresh: FreshDatabase;
  let target: DatabaseHandle;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'relay-test-'));
    source = await openEmbedded(directory, { log: silentLog });
    await fillLedger(source);
    await fillEveryTable(source.db);
  });
  beforeEach(async () => {
    await target?.close();
    await fresh?.drop();
    fresh = await emptyDatabase();
    target = createDatabase({ url: fresh.url, log: silentLog });
  });
  after(async () => {
    await target.close();
    await fresh.drop();
    await source.close();
    await rm(directory, { recursive: true });
  });

  /** Every row of every table as text, generated columns included. */
  async function everything(database: DatabaseHandle): Promise<Record<string, string[]>> {
    const tables = await database.withSession(readTables);
    const all: Record<string, string[]> = {};
    for (const { name } of tables) {
      const { rows } = await sql<{ text: string }>`
        select row_to_json(each)::text as text from ${sql.raw(quoted(name))} each order by 1`.execute(
        database.db,
      );
      all[name] = rows.map(({ text }) => text);
    }
    return all;
  }

  it('carries every row of every table, and the days of the ledger', async () => {
    const moved = await moveData(source, target);
    const [there, here] = [await everything(source), await everything(target)];
    assert.deepEqual(
      moved.filter(({ rows }) => rows === 0),
      [],
      'the test fills every table',
    );
    assert.equal(moved.find(({ table }) => table === 'requests')?.rows, there['requests']?.length);
    assert.ok((there['requests']?.length ?? 0) > ROWS);
    assert.deepEqual(here, there);
    const { rows } = await sql<{ name: string }>`
      select inhrelid::regclass::text as name from pg_inherits where inhparent = 'requests'::regclass`.execute(
      target.db,
    );
    for (const day of DAYS)
      assert.ok(
        rows.some(({ name }) => name === `requests_${day.replaceAll('-', '')}`),
        day,
      );
  });

  it('leaves a target that works: versions go on from where they were', async () => {
    await moveData(source, target);
    const { version } = await source.db
      .selectFrom('config_clock')
      .select('version')
      .executeTakeFirstOrThrow();
    const { id } = await target.db
      .selectFrom('organizations')
      .select('id')
      .limit(1)
      .executeTakeFirstOrThrow();
    await changeConfiguration(target.db, id, async () => undefined);
    const after = await target.db.selectFrom('config_clock').select('version').executeTakeFirstOrThrow();
    assert.equal(after.version, version + 1);
  });

  it('refuses a target that has anything in it, and leaves it as it was', async () => {
    await target.withSession((session) => migrateUp(session), MIGRATION_TIMEOUT_MS);
    await target.db
      .insertInto('users')
      .values({ id: randomUUIDv7(), name: 'Ada', email: 'ada@example.com' })
      .execute();
    await assert.rejects(moveData(source, target), (error: Error) => {
      assert.ok(error instanceof MoveRefusedError);
      assert.match(error.message, /not empty \(users\)/);
      return true;
    });
    const filled = Object.entries(await everything(target)).filter(([, rows]) => rows.length > 0);
    assert.deepEqual(filled.map(([table]) => table).sort(), ['config_clock', 'deployment', 'users']);
  });

  it('leaves nothing in a target that fails half way', async () => {
    await target.withSession((session) => migrateUp(session), MIGRATION_TIMEOUT_MS);
    await sql`alter table requests add constraint no_failures check (state <> 'failed')`.execute(target.db);
    await assert.rejects(moveData(source, target), { code: '23514' });
    const filled = Object.entries(await everything(target)).filter(([, rows]) => rows.length > 0);
    assert.deepEqual(
      filled.filter(([table]) => table !== 'deployment'),
      [['config_clock', ['{"singleton":true,"version":0}']]],
    );
  });
});

async function fillLedger(database: DatabaseHandle): Promise<void> {
  for (const day of DAYS) {
    await ensureLedgerPartitions(database.db, day, day);
    // One per day: a request of its own organization would have six rollups.
    const organizationId = randomUUIDv7();
    const prefix = uuidRangeOfDay(day).from.slice(0, 13);
    const rows = Array.from({ length: ROWS / DAYS.length }, (_, index) =>
      sampleRow({
        request_id: `${prefix}${randomUUIDv7().slice(13)}`,
        organization_id: organizationId,
        state: index % 100 === 0 ? 'failed' : 'completed',
        client_request_id: index % 3 === 0 ? null : `naïve "${index}" \\ {x,y} 😀\n`,
        trace: index % 5 === 0 ? { timings: null, candidates: [], guardrails: [] } : null,
      }),
    );
    for (let at = 0; at < rows.length; at += 500) await appendRequests(database.db, rows.slice(at, at + 500));
  }
}
