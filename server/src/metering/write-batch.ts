import type { Kysely } from 'kysely';
import type { Clock } from '../kit/clock.ts';
import { appendRequests } from '../store/ledger/append-requests.ts';
import type { LedgerRow } from '../store/ledger/ledger-row.ts';
import type { Database } from '../store/postgres/schema.ts';

/** More at once would be in danger of taking longer than a statement may. */
const ROWS_PER_TRANSACTION_MAX = 5_000;

export interface BatchOutcome {
  /** Requests that have their row by this batch, or a better one. */
  rows: number;
  /** Requests that can never have one, and why. */
  readonly refused: Map<string, unknown>;
}

interface BatchDeps {
  readonly db: Kysely<Database>;
  readonly clock: Clock;
}

/**
 * Writes rows, of each request one. Throws when PostgreSQL cannot answer, or refuses for a reason that is not in the rows:
 * they must then be kept.
 */
export async function writeBatch(deps: BatchDeps, rows: readonly LedgerRow[]): Promise<BatchOutcome> {
  const outcome: BatchOutcome = { rows: 0, refused: new Map() };
  for (let from = 0; from < rows.length; from += ROWS_PER_TRANSACTION_MAX)
    await writeParts(deps, rows.slice(from, from + ROWS_PER_TRANSACTION_MAX), outcome);
  return outcome;
}

/** Of rows that PostgreSQL refuses for what is in them the halves are written apart, down to the one that is at fault. */
async function writeParts(deps: BatchDeps, rows: readonly LedgerRow[], outcome: BatchOutcome): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  // Whoever follows the ledger looks for what is new by this time, so it is that of the transaction and none before.
  const settled_at = new Date(deps.clock.nowMs());
  for (const row of rows) row.settled_at = settled_at;
  try {
    outcome.rows += (await appendRequests(deps.db, rows)).length;
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
 * Data that is no value of its type (22), breaks a constraint (23) or exceeds a limit of the server (54). Anything else would
 * be the same for every row.
 */
function isFaultOfRow(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(22|23|54)/.test(String(error.code));
}
