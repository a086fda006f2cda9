import { type Kysely, sql } from 'kysely';
import { GATEWAY_LOST } from '../../../domain/expired-draft.ts';
import type { Database } from '../../postgres/schema.ts';
import { smallestUuidAt, timeOfRequestId } from '../ledger-partitions.ts';
import { conditionsOf, type UsageWindow } from './usage-sums.ts';

/** What one request took from a window, and when. */
export interface RecentUse {
  readonly atMs: number;
  readonly amount: number;
}

/** Longer than any request may have waited and been worked on. */
const REQUEST_MS_MAX = 86_400_000;

interface UseRow {
  readonly request_id: string;
  /** From its arrival. */
  readonly started_ms: number;
  readonly latency_ms: number;
  readonly amount: string;
  readonly estimate: string;
}

/**
 * What the ledger holds of a short window since a moment, in parts by their time: the reservation at its dispatch, what was
 * used beyond it at its end. Of a request whose end nobody knows the dispatch is put as late as it can have been.
 */
export async function readRecentUsage(
  db: Kysely<Database>,
  organizationId: string,
  { metric, counts }: Pick<UsageWindow, 'metric' | 'counts'>,
  sinceMs: number,
): Promise<RecentUse[]> {
  const { amount, estimate } = AMOUNTS[metric];
  const { rows } = await sql<UseRow>`
    select request_id, latency_ms,
      case when usage_source = 'estimated' and error_code = ${GATEWAY_LOST} then latency_ms
        else coalesce(round((attempts -> -1 ->> 'started_ms')::numeric)::integer, wait_ms) end as started_ms,
      ${sql.raw(`(${amount})`)}::text as amount, ${sql.raw(`(${estimate})`)}::text as estimate
    from requests
    where ${sql.join(conditionsOf(organizationId, counts), sql` and `)}
      and settled_at >= ${new Date(sinceMs)}
      and request_id >= ${smallestUuidAt(sinceMs - REQUEST_MS_MAX)}::uuid
      and usage_source <> 'none'`.execute(db);
  return rows.flatMap(usesOf).filter(({ atMs, amount: used }) => atMs >= sinceMs && used > 0);
}

function usesOf(row: UseRow): RecentUse[] {
  const [amount, estimate] = [Number(row.amount), Number(row.estimate)];
  const reserved = Math.min(amount, estimate);
  const arrivedMs = timeOfRequestId(row.request_id);
  return [
    { atMs: arrivedMs + row.started_ms, amount: reserved },
    { atMs: arrivedMs + row.latency_ms, amount: amount - reserved },
  ];
}

/** What nobody reported counts as it was estimated: not known is not nothing. */
const AMOUNTS: Record<UsageWindow['metric'], { readonly amount: string; readonly estimate: string }> = {
  requests: { amount: '1', estimate: '1' },
  concurrency: { amount: '0', estimate: '0' },
  tokens: {
    amount: `coalesce(actual_input_tokens, estimated_input_tokens)
      + coalesce(actual_output_tokens, estimated_output_tokens)`,
    estimate: 'estimated_input_tokens + estimated_output_tokens',
  },
  spend: {
    amount: 'coalesce(actual_cost_micros, estimated_cost_micros)',
    estimate: 'estimated_cost_micros',
  },
};
