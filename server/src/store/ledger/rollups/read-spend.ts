import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from '../../postgres/schema.ts';
import { exactCost, fallbackCost } from './exact-cost.ts';
import { pricedAttempts, priceOf, unpricedRequests } from './unpriced-requests.ts';
import { whoseRollups } from './whose-rollups.ts';

export interface SpendQuestion {
  readonly organizationId: string;
  /** With a user id, only that user's. */
  readonly userId: string | undefined;
  /** The start of a UTC day. */
  readonly fromMs: number;
}

/** The spend of one UTC day. */
export interface SpendDay {
  readonly bucket_start: Date;
  readonly metered_requests: number;
  readonly unpriced_requests: number;
  readonly priced_attempts: number;
  /** Exact, as text: it may exceed 64 bits. */
  readonly cost_picos: string;
  /** The part of the cost of attempts that another attempt followed. */
  readonly fallback_cost_picos: string;
}

/** The spend of each day with requests, from rollups. */
export async function readSpend(db: Kysely<Database>, question: SpendQuestion): Promise<SpendDay[]> {
  return (await spendQuery(question).execute(db)).rows;
}

export function spendQuery({ organizationId, userId, fromMs }: SpendQuestion): RawBuilder<SpendDay> {
  return sql`
    select rollup.bucket_start,
      sum(rollup.requests_metered)::bigint as metered_requests,
      ${unpricedRequests('rollup')}::bigint as unpriced_requests,
      ${pricedAttempts('rollup')}::bigint as priced_attempts,
      ${exactCost('rollup')}::text as cost_picos, ${fallbackCost('rollup')}::text as fallback_cost_picos
    from request_rollups rollup ${priceOf('rollup')}
    where rollup.organization_id = ${organizationId} and rollup.bucket = 'day' and ${whoseRollups('rollup', userId)}
      and rollup.bucket_start >= ${new Date(fromMs)}
    group by 1 order by 1`;
}
