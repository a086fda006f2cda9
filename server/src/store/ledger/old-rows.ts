import { type Kysely, sql } from 'kysely';
import type { Database } from '../postgres/schema.ts';

/** Serialises those who remove; any number will do. */
const LOCK_ID = 7_235_419_003;
const ROWS_MAX = 5_000;

/**
 * Removes a bounded number of rows that are older, found by the index on that column, and answers whether there may be more.
 * Rows that somebody is writing are left for the next time; while somebody else removes, nothing is done.
 */
export function removeOldRows(
  db: Kysely<Database>,
  table:
    | 'request_rollups_minute'
    | 'request_rollups_hour'
    | 'guardrail_rollups_minute'
    | 'guardrail_rollups_hour'
    | 'poisoned_usage',
  column: string,
  before: Date,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const lock = await sql<{ taken: boolean }>`select pg_try_advisory_xact_lock(${LOCK_ID}) as taken`.execute(
      tx,
    );
    if (lock.rows[0]?.taken !== true) return false;
    const removed = await sql`
      delete from ${sql.table(table)} where ctid = any (array(
        select ctid from ${sql.table(table)} where ${sql.ref(column)} < ${before}
        order by ${sql.ref(column)} limit ${ROWS_MAX} for update skip locked
      ))`.execute(tx);
    return (removed.numAffectedRows ?? 0n) >= BigInt(ROWS_MAX);
  });
}
