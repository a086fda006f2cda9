import { type Kysely, sql, type Transaction } from 'kysely';
import { smallestUuidAt } from '../../kit/uuid-time.ts';
import type { Database } from '../postgres/schema.ts';

const DAY_MS = 86_400_000;
const DAYS_MAX = 400;
/** Serializes the creation and removal of partitions; the number is arbitrary. */
const LOCK_ID = 7_235_419_002;
const DROP_WAIT_MS = 500;

/** The UTC day of a moment, as `YYYY-MM-DD`. */
export function utcDayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

/** The ids of one UTC day; `to` is exclusive. */
export function uuidRangeOfDay(day: string): { from: string; to: string } {
  const startMs = startOfDayMs(day);
  return { from: smallestUuidAt(startMs), to: smallestUuidAt(startMs + DAY_MS) };
}

function startOfDayMs(day: string): number {
  const startMs = Date.parse(`${day}T00:00:00.000Z`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(startMs) || utcDayOf(startMs) !== day) {
    throw new RangeError(`${day} is not a day written as YYYY-MM-DD`);
  }
  return startMs;
}

/**
 * Creates the ledger's partitions from `fromDay` to `toDay`, both included, and returns the days it created. Safe to call
 * from several processes concurrently; when all exist, it takes no lock on the ledger.
 */
export async function ensureLedgerPartitions(
  db: Kysely<Database>,
  fromDay: string,
  toDay: string,
): Promise<string[]> {
  const days = daysBetween(fromDay, toDay);
  if ((await missingDays(db, days)).length === 0) return [];
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${LOCK_ID})`.execute(tx);
    const missing = await missingDays(tx, days);
    for (const day of missing) await makePartition(tx, day);
    return missing;
  });
}

/** The UTC days that the ledger has a partition for, oldest first. */
export async function ledgerDays(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ day: string }>`
    select regexp_replace(relname, '^requests_(\\d{4})(\\d{2})(\\d{2})$', '\\1-\\2-\\3') as day
    from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = 'requests'::regclass and relname ~ '^requests_\\d{8}$' order by 1`.execute(db);
  return rows.map(({ day }) => day);
}

/**
 * Drops the partitions before this day and returns the days it dropped. Each waits only briefly for its lock, because
 * readers and writers of the ledger wait behind it; a failure is retried later.
 */
export async function dropLedgerPartitionsBefore(db: Kysely<Database>, day: string): Promise<string[]> {
  const { rows } = await sql<{ relname: string }>`
    select child.relname from pg_inherits
    join pg_class child on child.oid = inhrelid
    where inhparent = 'requests'::regclass and child.relname ~ '^requests_\\d{8}$'
      and child.relname < ${partitionName(day)}
    order by child.relname`.execute(db);
  const dropped: string[] = [];
  for (const { relname } of rows) {
    const isDropped = await db.transaction().execute(async (tx) => {
      const lock = await sql<{
        taken: boolean;
      }>`select pg_try_advisory_xact_lock(${LOCK_ID}) as taken`.execute(tx);
      if (lock.rows[0]?.taken !== true) return false;
      await sql`set local lock_timeout = ${sql.lit(DROP_WAIT_MS)}`.execute(tx);
      await sql`drop table if exists ${sql.table(relname)}`.execute(tx);
      return true;
    });
    if (!isDropped) break;
    dropped.push(relname.slice('requests_'.length));
  }
  return dropped;
}

function daysBetween(fromDay: string, toDay: string): string[] {
  const fromMs = startOfDayMs(fromDay);
  const count = (startOfDayMs(toDay) - fromMs) / DAY_MS + 1;
  if (count < 1 || count > DAYS_MAX)
    throw new RangeError(`${fromDay} to ${toDay} is not 1 to ${DAYS_MAX} days`);
  return Array.from({ length: count }, (_, index) => utcDayOf(fromMs + index * DAY_MS));
}

function partitionName(day: string): string {
  return `requests_${day.replaceAll('-', '')}`;
}

async function missingDays(db: Kysely<Database>, days: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ relname: string }>`
    select child.relname from pg_inherits
    join pg_class child on child.oid = inhrelid
    where inhparent = 'requests'::regclass and child.relname = any(${days.map(partitionName)})`.execute(db);
  const present = new Set(rows.map((row) => row.relname));
  return days.filter((day) => !present.has(partitionName(day)));
}

/**
 * Creates the table separately and then attaches it: attaching does not block reads and inserts, whereas creating it in
 * place waits for all of them and blocks new ones.
 */
async function makePartition(tx: Transaction<Database>, day: string): Promise<void> {
  const { from, to } = uuidRangeOfDay(day);
  const name = sql.table(partitionName(day));
  await sql`create table ${name} (like requests including defaults including constraints)`.execute(tx);
  await sql`alter table requests attach partition ${name}
    for values from (${sql.lit(from)}) to (${sql.lit(to)})`.execute(tx);
}
