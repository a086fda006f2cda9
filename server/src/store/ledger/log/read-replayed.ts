import { type Kysely, sql } from 'kysely';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import type { Database } from '../../postgres/schema.ts';
import type { StoredAttempt } from '../ledger-json.ts';
import type { IdRange } from './read-log.ts';

/** An attempt that failed and was followed by another. */
export type FailedAttempt = Pick<StoredAttempt, 'endpoint_id' | 'latency_ms'>;

export type ReplayedRow = Awaited<ReturnType<ReturnType<typeof replayedQuery>['execute']>>[number];

/**
 * What a replay needs of requests, newest first. Most requests have one attempt, of which only two times are read: the list is large.
 */
function replayedQuery(db: Kysely<Database>, organizationId: string, range: IdRange, limit: number) {
  return db
    .selectFrom('requests')
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
    .where('organization_id', '=', organizationId)
    .where('request_id', '>=', range.fromId)
    .where('request_id', '<', range.belowId)
    .orderBy('request_id', 'desc')
    .limit(limit);
}

/** A page of requests, newest first, as PostgreSQL writes it: `JSON.parse` gives a list of `ReplayedRow`. */
export interface ReplayedPage {
  readonly json: string;
  readonly oldestId: string;
  readonly keyIds: readonly string[];
}

/**
 * Requests that arrived since then, newest first, in statements of bounded size. They stay text, so that this thread, which may serve
 * requests, does not read them. Returns whether there are more than `max`.
 */
export async function readReplayed(
  db: Kysely<Database>,
  organizationId: string,
  { fromMs, toMs, max, pageRows }: { fromMs: number; toMs: number; max: number; pageRows: number },
  take: (page: ReplayedPage) => void,
): Promise<{ readonly isCut: boolean }> {
  const fromId = smallestUuidAt(fromMs);
  let belowId = smallestUuidAt(toMs);
  for (let read = 0; read < max; ) {
    const limit = Math.min(pageRows, max - read);
    const found = await pageQuery(db, organizationId, { fromId, belowId }, limit).executeTakeFirstOrThrow();
    const { json, oldest_id: oldestId, key_ids, rows } = found;
    if (json === null || oldestId === null) return { isCut: false };
    take({ json, oldestId, keyIds: key_ids ?? [] });
    if (rows < limit) return { isCut: false };
    read += rows;
    belowId = oldestId;
  }
  const rest = await replayedQuery(db, organizationId, { fromId, belowId }, 1).execute();
  return { isCut: rest.length > 0 };
}

function pageQuery(db: Kysely<Database>, organizationId: string, range: IdRange, limit: number) {
  return db
    .selectFrom(replayedQuery(db, organizationId, range, limit).as('page'))
    .select([
      sql<string | null>`json_agg(page)::text`.as('json'),
      sql<string | null>`min(page.request_id::text)`.as('oldest_id'),
      sql<string[] | null>`array_agg(distinct page.key_id::text) filter (where page.key_id is not null)`.as(
        'key_ids',
      ),
      sql<number>`count(*)::integer`.as('rows'),
    ]);
}
