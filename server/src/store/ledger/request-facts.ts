import type { LedgerRow } from './ledger-row.ts';

/**
 * Facts about a request, each with the column that is above zero when the fact is true. Rollups count by them and the log is
 * searched by them.
 */
export const FACT_COLUMNS = { waited: 'wait_ms', fell_back: 'fallback_count' } as const;
export type Fact = keyof typeof FACT_COLUMNS;
export type FactColumn = (typeof FACT_COLUMNS)[Fact];

export function isFact(fact: Fact, row: Pick<LedgerRow, FactColumn>): boolean {
  return row[FACT_COLUMNS[fact]] > 0;
}
