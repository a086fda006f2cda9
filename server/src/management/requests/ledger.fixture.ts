import { type Kysely, sql } from 'kysely';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import { appendRequests } from '../../store/ledger/append-requests.ts';
import { ensureLedgerPartitions, utcDayOf } from '../../store/ledger/ledger-partitions.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import { rowArrays } from '../../store/postgres/row-arrays.ts';
import type { Database } from '../../store/postgres/schema.ts';

/** A request id for this time; `number` distinguishes ids of the same millisecond. */
export function idAt(timeMs: number, number: number): string {
  const hex = timeMs.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

const ROWS_AT_ONCE = 5_000;

/** Writes rows and their sums as the worker does. */
export function recordRequests(db: Kysely<Database>, rows: readonly LedgerRow[]): Promise<void> {
  return inParts(db, rows, (some) => appendRequests(db, some));
}

/** Writes rows without their sums, which take most of the time. */
export function insertRequests(db: Kysely<Database>, rows: readonly LedgerRow[]): Promise<void> {
  return inParts(db, rows, (some) => {
    const { columns, select } = rowArrays(
      'requests',
      Object.keys(some[0] ?? {}) as (keyof LedgerRow)[],
      some,
    );
    return sql`insert into requests (${columns}) ${select}`.execute(db);
  });
}

async function inParts(
  db: Kysely<Database>,
  rows: readonly LedgerRow[],
  write: (some: readonly LedgerRow[]) => Promise<unknown>,
): Promise<void> {
  const days = [...new Set(rows.map(({ request_id }) => utcDayOf(uuidTimeMs(request_id))))].sort();
  for (const day of days) await ensureLedgerPartitions(db, day, day);
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
    await write(rows.slice(from, from + ROWS_AT_ONCE));
}
