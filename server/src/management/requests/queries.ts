import { type Kysely, sql } from 'kysely';
import { smallestUuidAt } from '../../store/ledger/ledger-partitions.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { narrowest, type RequestSearch, type Wanted } from './search.ts';

/** What a line of the log is made of. Attempts and trace are read for one request at a time. */
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
  'requests.usage_source',
] as const;

/** From arrival to the first dispatch. */
export const dispatchedMs = sql<number | null>`(requests.attempts #>> '{0,started_ms}')::integer`.as(
  'dispatched_ms',
);

/** A part of the log: ids from one, inclusive, to below another. */
export interface IdRange {
  readonly fromId: string;
  readonly belowId: string;
}

export type EntryRow = Awaited<ReturnType<ReturnType<typeof entriesQuery>['execute']>>[number];

/**
 * Requests newest first. One condition has an index that is in the order of ids; whatever else is wanted is looked for among
 * the first rows that the index gives, so that a rare combination costs a bounded effort and not a walk through the ledger.
 */
export function entriesQuery(db: Kysely<Database>, search: RequestSearch, range: IdRange, limit: number) {
  const { leading, others } = partsOf(search.wanted);
  const given = ledgerRows(db, search.organizationId, leading, range)
    .select(ENTRY_COLUMNS)
    .select(dispatchedMs)
    .limit(others.length === 0 ? limit : search.scannedRowsMax);
  let query = db.selectFrom(given.as('given')).selectAll();
  for (const [column, value] of others) query = query.where(column, '=', value);
  return query.orderBy('request_id', 'desc').limit(limit);
}

/** Whether `entriesQuery` may stop before it has seen the whole range. */
export function isScanned({ wanted }: RequestSearch): boolean {
  return partsOf(wanted).others.length > 0;
}

/** The last row that `entriesQuery` goes through in this range; none when it sees all of them. */
export function scanEndQuery(db: Kysely<Database>, search: RequestSearch, range: IdRange) {
  const { leading } = partsOf(search.wanted);
  return ledgerRows(db, search.organizationId, leading, range)
    .select('requests.request_id')
    .offset(search.scannedRowsMax - 1)
    .limit(1);
}

/** One request with everything that is known of it; the user narrows it to their own. */
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
    .select(['credential_id', 'bound_policy', 'attempts', 'trace'])
    .where('organization_id', '=', organizationId)
    .where('request_id', '=', requestId)
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? ''));
}

export function endpointNamesQuery(db: Kysely<Database>, organizationId: string, ids: readonly string[]) {
  return db
    .selectFrom('endpoints')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids);
}

/** The smallest id that a row of the ledger can have: days before its first partition are gone, or never were. */
export async function ledgerStartId(db: Kysely<Database>): Promise<string | null> {
  const { rows } = await sql<{ day: string | null }>`
    select min(substring(child.relname from '^requests_(\\d{8})$')) as day
    from pg_inherits join pg_class child on child.oid = inhrelid
    where inhparent = 'requests'::regclass`.execute(db);
  const day = rows[0]?.day ?? null;
  if (day === null) return null;
  return smallestUuidAt(Date.parse(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`));
}

function partsOf(wanted: Wanted) {
  const first = narrowest(wanted);
  const all = Object.entries(wanted) as [keyof Wanted, string][];
  return {
    leading: all.filter(([column]) => column === first),
    others: all.filter(([column]) => column !== first),
  };
}

function ledgerRows(
  db: Kysely<Database>,
  organizationId: string,
  conditions: readonly (readonly [keyof Wanted, string])[],
  { fromId, belowId }: IdRange,
) {
  let query = db
    .selectFrom('requests')
    .where('organization_id', '=', organizationId)
    .where('request_id', '>=', fromId)
    .where('request_id', '<', belowId);
  for (const [column, value] of conditions) query = query.where(`requests.${column}`, '=', value as never);
  return query.orderBy('request_id', 'desc');
}
