import { type Kysely, sql } from 'kysely';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import { appendRequests } from '../../store/ledger/append-requests.ts';
import { ensureLedgerPartitions, utcDayOf } from '../../store/ledger/ledger-partitions.ts';
import { sampleAttempt } from '../../store/ledger/ledger-row.fixture.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import { rowArrays } from '../../store/postgres/row-arrays.ts';
import type { Database } from '../../store/postgres/schema.ts';

/** A request id for this time; `number` distinguishes ids of the same millisecond. */
export function idAt(timeMs: number, number: number): string {
  const hex = timeMs.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

/**
 * The row of a request that was sent to its endpoint when it arrived. With a share, another attempt at the same endpoint came before and had
 * this part of its use.
 */
export function sentAtArrival(row: LedgerRow, share: number | null): LedgerRow {
  const { endpoint_id, provider_id } = row;
  if (endpoint_id === null) return row;
  const attempt = sampleAttempt({ endpoint_id, provider_id: provider_id ?? endpoint_id });
  if (share === null || row.usage_source === 'none') return { ...row, attempts: [attempt] };
  const part = (amount: number | null) => Math.floor((amount ?? 0) * share);
  const use = {
    source: 'reported',
    input_tokens: part(row.actual_input_tokens),
    output_tokens: part(row.actual_output_tokens),
    cached_input_tokens: part(row.actual_cached_input_tokens),
    cost_micros: part(row.actual_cost_micros),
  } as const;
  const rest = {
    source: 'reported',
    input_tokens: (row.actual_input_tokens ?? 0) - use.input_tokens,
    output_tokens: (row.actual_output_tokens ?? 0) - use.output_tokens,
    cached_input_tokens: (row.actual_cached_input_tokens ?? 0) - use.cached_input_tokens,
    cost_micros: (row.actual_cost_micros ?? 0) - use.cost_micros,
    cost_rounding_picos: row.actual_cost_rounding_picos,
  } as const;
  return {
    ...row,
    attempts: [
      { ...attempt, status: 500, outcome: 'failed', use },
      { ...attempt, use: rest },
    ],
  };
}

/** What the attempts cost that another one followed, in 10⁻¹² dollar. */
export function fallbackPicosOf(rows: readonly LedgerRow[]): bigint {
  const followed = rows.flatMap(({ attempts }) => attempts.slice(0, -1));
  return followed.reduce((sum, { use }) => sum + BigInt(use?.cost_micros ?? 0) * 1_000_000n, 0n);
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
