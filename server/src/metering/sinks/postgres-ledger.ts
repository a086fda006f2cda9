import type { Kysely } from 'kysely';
import type { Clock } from '../../kit/clock.ts';
import { appendRequests } from '../../store/ledger/append-requests.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { Ledger } from './ledger-sink.ts';

/** A larger transaction might exceed the statement timeout. */
const ROWS_PER_TRANSACTION_MAX = 10_000;

export interface PostgresLedgerDeps {
  readonly db: Kysely<Database>;
  readonly clock: Clock;
  /** Names of the sinks that follow the ledger: each gets the rows that a transaction inserts, in that transaction. */
  readonly sinks?: readonly string[];
  /** Whether the database takes COPY, as a server does. */
  readonly copies?: boolean;
}

interface Outcome {
  rows: number;
  readonly refused: Map<string, unknown>;
}

/** Writes each batch with its sums and the sinks' outboxes in one transaction. */
export function createPostgresLedger(deps: PostgresLedgerDeps): Ledger {
  return {
    async write(rows) {
      const outcome: Outcome = { rows: 0, refused: new Map() };
      for (let from = 0; from < rows.length; from += ROWS_PER_TRANSACTION_MAX)
        await writeParts(deps, rows.slice(from, from + ROWS_PER_TRANSACTION_MAX), outcome);
      return outcome;
    },
  };
}

/** When PostgreSQL refuses rows for their content, writes the halves separately, down to the row at fault. */
async function writeParts(
  deps: PostgresLedgerDeps,
  rows: readonly LedgerRow[],
  outcome: Outcome,
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  // The live tail finds new rows by this time, so it must be the time of the transaction.
  const settled_at = new Date(deps.clock.nowMs());
  for (const row of rows) row.settled_at = settled_at;
  try {
    outcome.rows += (await appendRequests(deps.db, rows, deps)).length;
    return;
  } catch (error) {
    if (!isFaultOfRow(error)) throw error;
    if (rows.length === 1) {
      outcome.refused.set(first.request_id, error);
      return;
    }
  }
  const middle = rows.length >> 1;
  await writeParts(deps, rows.slice(0, middle), outcome);
  await writeParts(deps, rows.slice(middle), outcome);
}

/**
 * An invalid value (22), a violated constraint (23) or an exceeded server limit (54). Any other error would be the same for every
 * row.
 */
export function isFaultOfRow(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(22|23|54)/.test(String(error.code));
}
