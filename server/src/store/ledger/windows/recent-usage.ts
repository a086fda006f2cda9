import { type Kysely, sql } from 'kysely';
import { GATEWAY_LOST } from '../../../domain/expired-draft.ts';
import { METRICS } from '../../../domain/limits/metric.ts';
import { smallestUuidAt, uuidTimeMs } from '../../../kit/uuid-time.ts';
import type { Database } from '../../postgres/schema.ts';
import { LEDGER_QUANTITIES } from './ledger-quantities.ts';
import { conditionsOf, type UsageWindow } from './usage-sums.ts';

/** What one request counted against a window, and when. */
export interface RecentUse {
  readonly atMs: number;
  readonly amount: number;
}

/** Longer than any request can wait and run. */
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
 * The ledger's usage of a short window since a moment, as parts by time: the reservation at its dispatch, and usage beyond
 * it at its end. For a request whose end is unknown, the dispatch is set as late as possible.
 */
export async function readRecentUsage(
  db: Kysely<Database>,
  organizationId: string,
  { metric, counts }: Pick<UsageWindow, 'metric' | 'counts'>,
  sinceMs: number,
): Promise<RecentUse[]> {
  const { ofRow, estimateOfRow } = LEDGER_QUANTITIES[METRICS[metric].quantity];
  const { rows } = await sql<UseRow>`
    select request_id, latency_ms,
      case when usage_source = 'estimated' and error_code = ${GATEWAY_LOST} then latency_ms
        else coalesce(round((attempts -> -1 ->> 'started_ms')::numeric)::integer, wait_ms) end as started_ms,
      ${sql.raw(`(${ofRow})`)}::text as amount, ${sql.raw(`(${estimateOfRow})`)}::text as estimate
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
  const arrivedMs = uuidTimeMs(row.request_id);
  return [
    { atMs: arrivedMs + row.started_ms, amount: reserved },
    { atMs: arrivedMs + row.latency_ms, amount: amount - reserved },
  ];
}
