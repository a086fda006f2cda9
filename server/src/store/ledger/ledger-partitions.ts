import { type Kysely, sql, type Transaction } from 'kysely';
import { smallestUuidAt } from '../../kit/uuid-time.ts';
import type { Database } from '../postgres/schema.ts';

const DAY_MS = 86_400_000;
const DAYS_MAX = 400;
/** Serializes the creation and removal of partitions; the number is arbitrary. */
const LOCK_ID = 7_235_419_002;
const DROP_WAIT_MS = 500;
const DROPS_AN_HOUR = 2;

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

/** The id of the newest row; null while the ledger has none. */
export async function newestRequestId(db: Kysely<Database>): Promise<string | null> {
  for (const day of (await ledgerDays(db)).reverse()) {
    const { from, to } = uuidRangeOfDay(day);
    const newest = await db
      .selectFrom('requests')
      .select('request_id')
      .where('request_id', '>=', from)
      .where('request_id', '<', to)
      .orderBy('request_id', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (newest !== undefined) return newest.request_id;
  }
  return null;
}

/** What retention does next with days of the ledger. */
export interface DayDrops {
  readonly dropped: readonly string[];
  /** These follow in an hour at the earliest. */
  readonly announced: readonly string[];
}

/**
 * Drops the days before this one that were announced an hour ago, and announces the next two when none is announced: a fleet drops at
 * most two days an hour. A drop waits only briefly for its lock, because readers and writers of the ledger wait behind it; a
 * failure is retried later.
 */
export async function dropDaysBefore(db: Kysely<Database>, before: string): Promise<DayDrops> {
  // The retention may have become longer since they were announced.
  await db.deleteFrom('announced_drops').where('day', '>=', before).execute();
  const due = await db
    .selectFrom('announced_drops')
    .select('day')
    .where('announced_at', '<=', sql<Date>`now() - interval '1 hour'`)
    .orderBy('day')
    .execute();
  const dropped: string[] = [];
  for (const { day } of due) if (await dropDay(db, day)) dropped.push(day);
  return { dropped, announced: await announceDrops(db, before) };
}

async function dropDay(db: Kysely<Database>, day: string): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    if (!(await tryLock(tx))) return false;
    const { numDeletedRows } = await tx
      .deleteFrom('announced_drops')
      .where('day', '=', day)
      .executeTakeFirstOrThrow();
    if (numDeletedRows === 0n) return false;
    await sql`set local lock_timeout = ${sql.lit(DROP_WAIT_MS)}`.execute(tx);
    await sql`drop table if exists ${sql.table(partitionName(day))}`.execute(tx);
    return true;
  });
}

async function announceDrops(db: Kysely<Database>, before: string): Promise<string[]> {
  const next = (await ledgerDays(db)).filter((day) => day < before).slice(0, DROPS_AN_HOUR);
  if (next.length === 0) return [];
  return db.transaction().execute(async (tx) => {
    if (!(await tryLock(tx))) return [];
    const { rows } = await sql<{ day: string }>`
      insert into announced_drops (day) select unnest(${next}::text[])
      where not exists (select from announced_drops) returning day`.execute(tx);
    return rows.map(({ day }) => day);
  });
}

async function tryLock(tx: Transaction<Database>): Promise<boolean> {
  const { rows } = await sql<{ taken: boolean }>`
    select pg_try_advisory_xact_lock(${LOCK_ID}) as taken`.execute(tx);
  return rows[0]?.taken === true;
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
