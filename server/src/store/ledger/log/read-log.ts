import { type Kysely, sql } from 'kysely';
import type { Database } from '../../postgres/schema.ts';
import { firstSentMsOf } from '../attempts-of-row.ts';
import type { StoredAttempt, StoredBoundPolicy, StoredTrace } from '../ledger-json.ts';
import { ledgerDays, uuidRangeOfDay } from '../ledger-partitions.ts';
import { FACT_COLUMNS } from '../request-facts.ts';
import { type ColumnCondition, type LogSearch, splitConditions, type WantedVerdict } from './log-search.ts';

/** The columns of a log entry. `attempts` and `trace` are large, so only `readRequest` reads them. */
export const ENTRY_COLUMNS = [
  'requests.request_id',
  'requests.client_request_id',
  'requests.state',
  'requests.operation',
  'requests.model',
  'requests.streaming',
  'requests.status',
  'requests.error_code',
  'requests.user_id',
  'requests.key_id',
  'requests.lane_id',
  'requests.endpoint_id',
  'requests.provider_id',
  'requests.upstream_model',
  'requests.fallback_count',
  'requests.wait_ms',
  'requests.ttft_ms',
  'requests.latency_ms',
  'requests.estimated_input_tokens',
  'requests.estimated_output_tokens',
  'requests.estimated_cost_micros',
  'requests.actual_input_tokens',
  'requests.actual_cached_input_tokens',
  'requests.actual_output_tokens',
  'requests.actual_cost_micros',
  'requests.actual_cost_rounding_picos',
  'requests.usage_source',
  'requests.team_id',
  'requests.parent_team_id',
  'requests.labels',
  'requests.wait_budget_ms',
] as const;

/** Time from arrival to the first dispatch; null when nothing was sent. */
export const dispatchedMs = firstSentMsOf('requests').as('dispatched_ms');

/** Whether a request has this verdict. */
function isJudged(verdict: WantedVerdict) {
  return sql<boolean>`requests.trace -> 'guardrails' @> ${JSON.stringify([verdict])}::jsonb`.as('is_judged');
}

/** A range of request ids; `belowId` is exclusive. */
export interface IdRange {
  readonly fromId: string;
  readonly belowId: string;
}

export type EntryRow = Awaited<ReturnType<ReturnType<typeof entriesQuery>['execute']>>[number];
export type DetailRow = Awaited<ReturnType<ReturnType<typeof requestQuery>['execute']>>[number];

/**
 * Requests, newest first. The leading condition uses an index in id order. The other conditions filter a bounded number of
 * its rows, so a rare combination never scans the whole ledger.
 */
export function entriesQuery(db: Kysely<Database>, search: LogSearch, range: IdRange, limit: number) {
  const { leading, others, facts, isFiltered } = splitConditions(search.wanted);
  const { guardrail } = search.wanted;
  const entries = ledgerRows(db, search.organizationId, leading, range)
    .select(ENTRY_COLUMNS)
    .select(dispatchedMs)
    .limit(isFiltered ? search.scannedRowsMax : limit);
  // Only the condition below reads the further column.
  const given: typeof entries = guardrail === undefined ? entries : entries.select(isJudged(guardrail));
  let query = db.selectFrom(given.as('given')).selectAll();
  for (const [column, value] of others) query = query.where(sql.ref<string>(column), '=', value);
  for (const [fact, value] of facts) query = query.where(FACT_COLUMNS[fact], value ? '>' : '<=', 0);
  if (guardrail !== undefined) query = query.where(sql.ref<boolean>('is_judged'), '=', true);
  return query.orderBy('request_id', 'desc').limit(limit);
}

/** The last row that `entriesQuery` reads in this range; no row when it reads all of them. */
export function scanEndQuery(db: Kysely<Database>, search: LogSearch, range: IdRange) {
  const { leading } = splitConditions(search.wanted);
  return ledgerRows(db, search.organizationId, leading, range)
    .select('requests.request_id')
    .offset(search.scannedRowsMax - 1)
    .limit(1);
}

/** The matching rows of a range, and the id at which reading stopped; null when the range has no more. */
export async function readRange(
  db: Kysely<Database>,
  search: LogSearch,
  range: IdRange,
  limit: number,
): Promise<{ rows: EntryRow[]; endId: string | null }> {
  const rows = await entriesQuery(db, search, range, limit).execute();
  if (rows.length >= limit) return { rows, endId: rows.at(-1)?.request_id ?? null };
  if (!splitConditions(search.wanted).isFiltered) return { rows, endId: null };
  const end = await scanEndQuery(db, search, range).executeTakeFirst();
  if (end === undefined) return { rows, endId: null };
  // Requests recorded between the two statements can move the end up. Rows below it are read again in the next step.
  return { rows: rows.filter(({ request_id }) => request_id >= end.request_id), endId: end.request_id };
}

/** All columns of one request. With a user id, only that user's requests are found. */
export function requestQuery(
  db: Kysely<Database>,
  organizationId: string,
  requestId: string,
  userId: string | undefined,
) {
  return db
    .selectFrom('requests')
    .select(ENTRY_COLUMNS)
    .select(dispatchedMs)
    .select(({ ref }) => [
      'organization_id',
      'credential_id',
      'actual_cache_write_5m_tokens',
      'actual_cache_write_1h_tokens',
      ref('bound_policy').$castTo<StoredBoundPolicy | null>().as('bound_policy'),
      ref('attempts').$castTo<readonly StoredAttempt[]>().as('attempts'),
      ref('trace').$castTo<StoredTrace | null>().as('trace'),
    ])
    .where('organization_id', '=', organizationId)
    .where('request_id', '=', requestId)
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? ''));
}

export function readRequest(
  db: Kysely<Database>,
  organizationId: string,
  requestId: string,
  userId: string | undefined,
): Promise<DetailRow | undefined> {
  return requestQuery(db, organizationId, requestId, userId).executeTakeFirst();
}

/** The smallest id the ledger can hold: the start of its first partition. Null when it has no partition. */
export async function ledgerStartId(db: Kysely<Database>): Promise<string | null> {
  const [day] = await ledgerDays(db);
  return day === undefined ? null : uuidRangeOfDay(day).from;
}

function ledgerRows(
  db: Kysely<Database>,
  organizationId: string,
  conditions: readonly ColumnCondition[],
  { fromId, belowId }: IdRange,
) {
  let query = db
    .selectFrom('requests')
    .where('organization_id', '=', organizationId)
    .where('request_id', '>=', fromId)
    .where('request_id', '<', belowId);
  for (const [column, value] of conditions)
    query = query.where(sql.ref<string>(`requests.${column}`), '=', value);
  return query.orderBy('request_id', 'desc');
}
