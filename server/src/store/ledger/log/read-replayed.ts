import { type Kysely, sql } from 'kysely';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import type { Database } from '../../postgres/schema.ts';
import type { StoredAttempt } from '../ledger-json.ts';
import type { IdRange } from './read-log.ts';

/** An attempt that failed and was followed by another. */
export type FailedAttempt = Pick<StoredAttempt, 'endpoint_id' | 'latency_ms' | 'cause' | 'sent' | 'use'>;

export type ReplayedRow = Awaited<ReturnType<ReturnType<typeof replayedQuery>['execute']>>[number];

/**
 * What a replay needs of requests, oldest first. Most requests have one attempt, of which only two times are read: the list is large.
 */
function replayedQuery(db: Kysely<Database>, organizationId: string, range: IdRange, limit: number) {
  return inRange(db, organizationId, range)
    .select([
      'request_id',
      'user_id',
      'key_id',
      'lane_id',
      'operation',
      'streaming',
      'state',
      'error_code',
      'model',
      'fallback_count',
      'wait_ms',
      'latency_ms',
      'estimated_input_tokens',
      'estimated_output_tokens',
      'actual_input_tokens',
      'actual_cached_input_tokens',
      'actual_output_tokens',
      'actual_cache_write_5m_tokens',
      'actual_cache_write_1h_tokens',
      'actual_cost_micros',
      'usage_source',
    ])
    .select([
      sql<number>`jsonb_array_length(attempts)`.as('attempt_count'),
      sql<number | null>`(attempts #>> '{0,wait_ms}')::float8`.as('first_wait_ms'),
      sql<number | null>`(attempts #>> '{0,started_ms}')::float8`.as('first_started_ms'),
      sql<number | null>`(attempts #>> '{-1,started_ms}')::float8`.as('last_started_ms'),
      sql<number | null>`coalesce((trace #>> '{timings,receive_ms}')::float8, 0)
        + coalesce((trace #>> '{timings,route_ms}')::float8, 0)
        + coalesce((trace #>> '{timings,guard_ms}')::float8, 0)
        + coalesce((trace #>> '{timings,admit_ms}')::float8, 0)`.as('asked_ms'),
      sql<
        readonly FailedAttempt[] | null
      >`case when jsonb_array_length(attempts) > 1 then attempts - -1 end`.as('failed'),
    ])
    .orderBy('request_id')
    .limit(limit);
}

function inRange(db: Kysely<Database>, organizationId: string, { fromId, belowId }: IdRange) {
  return db
    .selectFrom('requests')
    .where('organization_id', '=', organizationId)
    .where('request_id', '>=', fromId)
    .where('request_id', '<', belowId);
}

/** The most recent requests of a time: at most `max`. */
export interface ReplayedRange extends IdRange {
  /** There are more. */
  readonly isCut: boolean;
  /** The keys of the requests. */
  readonly keyIds: readonly string[];
}

/** Null when there are none. */
export async function findReplayed(
  db: Kysely<Database>,
  organizationId: string,
  { fromMs, toMs, max }: { readonly fromMs: number; readonly toMs: number; readonly max: number },
): Promise<ReplayedRange | null> {
  const belowId = smallestUuidAt(toMs);
  const all = { fromId: smallestUuidAt(fromMs), belowId };
  const ids = inRange(db, organizationId, all).select('request_id');
  const newest = ids.orderBy('request_id', 'desc').offset(max - 1);
  // The first of them, and one more if there is one.
  const [first, more] = await newest.limit(2).execute();
  const oldest = first ?? (await ids.orderBy('request_id').limit(1).executeTakeFirst());
  if (oldest === undefined) return null;
  const range = { fromId: oldest.request_id, belowId };
  const keys = await inRange(db, organizationId, range)
    .select('key_id')
    .distinct()
    .where('key_id', 'is not', null)
    .execute();
  return { ...range, isCut: more !== undefined, keyIds: keys.flatMap(({ key_id }) => key_id ?? []) };
}

/**
 * Reads them oldest first, in statements of bounded size. Each page stays text, of which `JSON.parse` makes a list of `ReplayedRow`: this
 * thread may serve requests, and should not spend its time on it.
 */
export async function readReplayed(
  db: Kysely<Database>,
  organizationId: string,
  range: IdRange,
  pageRows: number,
  take: (json: string) => void,
): Promise<void> {
  let next = replayedQuery(db, organizationId, range, pageRows);
  for (;;) {
    const { json, last_id, rows } = await pageOf(db, next);
    if (json === null || last_id === null) return;
    take(json);
    if (rows < pageRows) return;
    next = replayedQuery(db, organizationId, range, pageRows).where('request_id', '>', last_id);
  }
}

function pageOf(db: Kysely<Database>, rows: ReturnType<typeof replayedQuery>) {
  return db
    .selectFrom(rows.as('page'))
    .select([
      sql<string | null>`json_agg(page)::text`.as('json'),
      sql<string | null>`max(page.request_id::text)`.as('last_id'),
      sql<number>`count(*)::integer`.as('rows'),
    ])
    .executeTakeFirstOrThrow();
}
