import { type Kysely, type RawBuilder, sql } from 'kysely';
import { isExpiredEstimate } from '../../../domain/expired-draft.ts';
import type { Database } from '../../postgres/schema.ts';
import type { LedgerRow } from '../ledger-row.ts';

/** Enough to decide whether a portion is due; the backlog is counted no further. */
const BATCHES_COUNTED_MAX = 1_000;

/** The rows that one transaction of the ledger inserted, for one sink. */
export interface OutboxEntry {
  readonly id: string;
  readonly createdAt: Date;
  readonly requestIds: readonly string[];
  /** Rows that were estimates of lost gateways when they were inserted. */
  readonly estimateIds: ReadonlySet<string>;
}

/** Adds one entry for each sink. Undefined when there is no sink, which then costs no statement. */
export function addToOutbox(
  sinks: readonly string[],
  rows: readonly LedgerRow[],
): RawBuilder<unknown> | undefined {
  if (sinks.length === 0 || rows.length === 0) return undefined;
  const ids = rows.map(({ request_id }) => request_id);
  const estimates = rows
    .filter(({ error_code, usage_source }) => isExpiredEstimate(error_code, usage_source))
    .map(({ request_id }) => request_id);
  return sql`insert into sink_outbox (sink, request_ids, estimate_ids, row_count)
    select sink, ${ids}::uuid[], ${estimates}::uuid[], ${rows.length}::integer
    from unnest(${sinks}::text[]) as given (sink)`;
}

/** The oldest entry after another; null when there is none. */
export async function nextOutboxEntry(
  db: Kysely<Database>,
  sink: string,
  after: OutboxEntry | null,
): Promise<OutboxEntry | null> {
  let query = db
    .selectFrom('sink_outbox')
    .select(['id', 'created_at', 'request_ids', 'estimate_ids'])
    .where('sink', '=', sink);
  if (after !== null)
    query = query.where(
      sql<boolean>`(created_at, id) > (${after.createdAt}::timestamptz, ${after.id}::uuid)`,
    );
  const row = await query.orderBy('created_at').orderBy('id').limit(1).executeTakeFirst();
  if (row === undefined) return null;
  return {
    id: row.id,
    createdAt: row.created_at,
    requestIds: row.request_ids,
    estimateIds: new Set(row.estimate_ids),
  };
}

export interface OutboxBacklog {
  /** Both counted up to `BATCHES_COUNTED_MAX` batches. */
  readonly batches: number;
  readonly rows: number;
  /** Age of the oldest entry; 0 when there is none. */
  readonly oldestMs: number;
}

export async function readOutboxBacklog(db: Kysely<Database>, sink: string): Promise<OutboxBacklog> {
  const { rows } = await sql<{ batches: number; rows: number; oldest_ms: number }>`
    select count(*)::integer as batches, coalesce(sum(row_count), 0)::integer as rows,
      coalesce(extract(epoch from clock_timestamp() - min(created_at)) * 1000, 0)::float8 as oldest_ms
    from (select row_count, created_at from sink_outbox where sink = ${sink}
      order by created_at, id limit ${BATCHES_COUNTED_MAX}) as oldest`.execute(db);
  const [found] = rows;
  return {
    batches: found?.batches ?? 0,
    rows: found?.rows ?? 0,
    oldestMs: Math.max(0, found?.oldest_ms ?? 0),
  };
}
