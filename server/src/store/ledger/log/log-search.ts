import type { StoredTrace } from '../ledger-json.ts';
import { FACT_COLUMNS, type Fact } from '../request-facts.ts';

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
export const SEARCH_FACTS = Object.keys(FACT_COLUMNS) as Fact[];
type StoredVerdict = StoredTrace['guardrails'][number];
/** One verdict that a request must have. */
export type WantedVerdict = Partial<Pick<StoredVerdict, 'guardrail_id' | 'verdict'>>;
export type Wanted = Partial<Record<SearchColumn, string>> &
  Partial<Record<Fact, boolean>> & { guardrail?: WantedVerdict };

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
export type ColumnCondition = readonly [column: SearchColumn, value: string];
/** Whether a fact must be true. */
export type FactCondition = readonly [fact: Fact, value: boolean];

/**
 * Splits the conditions into the one that leads, because it has an index in id order and is likely to leave the fewest rows,
 * and the others. Without a leading condition, the index on the organization serves. Facts and verdicts have no index.
 */
export function splitConditions(wanted: Wanted): SplitConditions {
  const columns = SEARCH_COLUMNS.flatMap((column): ColumnCondition[] => {
    const value = wanted[column];
    return value === undefined ? [] : [[column, value]];
  });
  const facts = SEARCH_FACTS.flatMap((fact): FactCondition[] => {
    const value = wanted[fact];
    return value === undefined ? [] : [[fact, value]];
  });
  const first = columns.find(isIndexed);
  const others = columns.filter((condition) => condition !== first);
  return {
    leading: first === undefined ? [] : [first],
    others,
    facts,
    isFiltered: others.length + facts.length > 0 || wanted.guardrail !== undefined,
  };
}

interface SplitConditions {
  readonly leading: readonly ColumnCondition[];
  readonly others: readonly ColumnCondition[];
  readonly facts: readonly FactCondition[];
  /** Rows that the leading condition finds may not match, so a statement needs its bound. */
  readonly isFiltered: boolean;
}

/** Whether a trace has the verdict; `entriesQuery` asks PostgreSQL the same. */
export function hasVerdict(said: readonly StoredVerdict[] | null, wanted: WantedVerdict): boolean {
  const { guardrail_id: id, verdict } = wanted;
  return (said ?? []).some(
    (each) =>
      (id === undefined || id === each.guardrail_id) && (verdict === undefined || verdict === each.verdict),
  );
}

/** Most requests are completed and few operations exist, so neither has an index. */
function isIndexed([column, value]: ColumnCondition): boolean {
  return column !== 'operation' && !(column === 'state' && value === 'completed');
}
