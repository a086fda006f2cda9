import { type Kysely, sql } from 'kysely';
import { METRICS } from '../../../domain/limits/metric.ts';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import type { Database } from '../../postgres/schema.ts';
import { REQUEST_MS_MAX, sentAttemptsOf } from '../attempts-of-row.ts';
import { LEDGER_QUANTITIES } from './ledger-quantities.ts';
import { conditionsOf, type UsageWindow } from './usage-sums.ts';

/** An amount that one attempt counted in a window, and its moment. */
export interface RecentUse {
  readonly atMs: number;
  readonly amount: number;
}

interface UseRow {
  readonly latest_ms: string;
  readonly ended_ms: string;
  readonly amount: string;
  readonly estimate: string;
}

/**
 * The ledger's usage of a short window since a moment, as parts by time: the reservation of each attempt at its dispatch, and usage beyond
 * it at its end. For an attempt whose end is unknown, the dispatch is set as late as possible.
 */
export async function readRecentUsage(
  db: Kysely<Database>,
  organizationId: string,
  { metric, counts }: Pick<UsageWindow, 'metric' | 'counts'>,
  sinceMs: number,
): Promise<RecentUse[]> {
  const { ofAttempt, estimateOfRow } = LEDGER_QUANTITIES[METRICS[metric].quantity];
  const { rows } = await sql<UseRow>`
    select sent.latest_ms::text, sent.ended_ms::text, (${sql.raw(ofAttempt)})::text as amount, (${sql.raw(estimateOfRow)})::text as estimate
    from requests as request cross join lateral ${sentAttemptsOf('request')} as sent
    where ${sql.join(conditionsOf('request', 'sent', organizationId, counts), sql` and `)}
      and request.settled_at >= ${new Date(sinceMs)}
      and request.request_id >= ${smallestUuidAt(sinceMs - REQUEST_MS_MAX)}::uuid`.execute(db);
  return rows.flatMap(usesOf).filter(({ atMs, amount: used }) => atMs >= sinceMs && used > 0);
}

function usesOf(row: UseRow): RecentUse[] {
  const [amount, estimate] = [Number(row.amount), Number(row.estimate)];
  const reserved = Math.min(amount, estimate);
  return [
    { atMs: Number(row.latest_ms), amount: reserved },
    { atMs: Number(row.ended_ms), amount: amount - reserved },
  ];
}
