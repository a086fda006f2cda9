import { type Kysely, sql } from 'kysely';
import type { Database } from '../postgres/schema.ts';
import { ROLLUP_DAYS } from './rollups/bucket.ts';

/** Serializes the processes that remove rows; the number is arbitrary. */
const LOCK_ID = 7_235_419_003;
const ROWS_MAX = 5_000;
const DAY_MS = 86_400_000;

/** A table whose rows are removed one by one when they reach this age. */
export interface ExpiringTable {
  readonly name: string;
  readonly timeColumn: string;
  readonly days: number;
}

/** The ledger itself is not listed: `dropDaysBefore` drops it by the day. */
export const EXPIRING_TABLES: readonly ExpiringTable[] = [
  { name: 'request_rollups_minute', timeColumn: 'bucket_start', days: ROLLUP_DAYS.minute },
  { name: 'request_rollups_hour', timeColumn: 'bucket_start', days: ROLLUP_DAYS.hour },
  { name: 'guardrail_rollups_minute', timeColumn: 'bucket_start', days: ROLLUP_DAYS.minute },
  { name: 'guardrail_rollups_hour', timeColumn: 'bucket_start', days: ROLLUP_DAYS.hour },
  { name: 'failure_rollups_minute', timeColumn: 'bucket_start', days: ROLLUP_DAYS.minute },
  { name: 'failure_rollups_hour', timeColumn: 'bucket_start', days: ROLLUP_DAYS.hour },
  // By member, code, endpoint and limit there may be many, and no statement is made from them.
  { name: 'failure_rollups_day', timeColumn: 'bucket_start', days: 400 },
  { name: 'attributed_rollups_hour', timeColumn: 'bucket_start', days: ROLLUP_DAYS.hour },
  { name: 'poisoned_usage', timeColumn: 'found_at', days: 100 },
  { name: 'sink_portions', timeColumn: 'decided_at', days: 30 },
  { name: 'alert_events', timeColumn: 'created_at', days: 400 },
];

/** Entries of the outbox go with the rows they name. */
export function expiringOutbox(ledgerDays: number): ExpiringTable {
  return { name: 'sink_outbox', timeColumn: 'created_at', days: ledgerDays };
}

/**
 * Removes a bounded number of expired rows, found by the index on their time, and returns whether more may be left. Skips rows
 * that another transaction has locked, and does nothing while another process removes rows.
 */
export function removeExpiredRows(
  db: Kysely<Database>,
  { name, timeColumn, days }: ExpiringTable,
  nowMs: number,
): Promise<boolean> {
  const [table, column] = [sql.table(name), sql.ref(timeColumn)];
  return db.transaction().execute(async (tx) => {
    const lock = await sql<{ taken: boolean }>`select pg_try_advisory_xact_lock(${LOCK_ID}) as taken`.execute(
      tx,
    );
    if (lock.rows[0]?.taken !== true) return false;
    const removed = await sql`
      delete from ${table} where ctid = any (array(
        select ctid from ${table} where ${column} < ${new Date(nowMs - days * DAY_MS)}
        order by ${column} limit ${ROWS_MAX} for update skip locked
      ))`.execute(tx);
    return (removed.numAffectedRows ?? 0n) >= BigInt(ROWS_MAX);
  });
}
