/** The ledger columns that requests are searched by, from the most to the least selective. */
export const SEARCH_COLUMNS = [
  'key_id',
  'user_id',
  'error_code',
  'state',
  'lane_id',
  'endpoint_id',
  'model',
  'provider_id',
  'operation',
] as const;
export type SearchColumn = (typeof SEARCH_COLUMNS)[number];
export type Wanted = Partial<Record<SearchColumn, string>>;

/** A search over one organization's requests. All conditions must hold. */
export interface LogSearch {
  readonly organizationId: string;
  readonly wanted: Wanted;
  /** Arrived no earlier. */
  readonly fromId: string;
  /** Arrived earlier. */
  readonly beforeId: string;
  /** Nothing can match: a filter is not a UUID, or names traffic that the caller may not see. */
  readonly impossible: boolean;
  /** Upper bound on the rows one statement reads when no index covers all conditions. */
  readonly scannedRowsMax: number;
}

export const SCANNED_ROWS_MAX = 20_000;

/** One value that a column must have. */
export type Condition = readonly [column: SearchColumn, value: string];

/**
 * Splits the conditions into the one that leads, because it has an index in id order and is likely to leave the fewest rows,
 * and the others. Without a leading condition, the index on the organization serves.
 */
export function splitConditions(wanted: Wanted): { leading: Condition[]; others: Condition[] } {
  const all = SEARCH_COLUMNS.flatMap((column): Condition[] => {
    const value = wanted[column];
    return value === undefined ? [] : [[column, value]];
  });
  const first = all.find(isIndexed);
  return {
    leading: first === undefined ? [] : [first],
    others: all.filter((condition) => condition !== first),
  };
}

/** Most requests are completed and few operations exist, so neither has an index. */
function isIndexed([column, value]: Condition): boolean {
  return column !== 'operation' && !(column === 'state' && value === 'completed');
}
