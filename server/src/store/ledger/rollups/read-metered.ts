import { type Kysely, type RawBuilder, sql } from 'kysely';
import { everNamed } from '../../postgres/ever-named.ts';
import type { Database } from '../../postgres/schema.ts';
import type { BucketRange } from './bucket.ts';
import { exactCost } from './exact-cost.ts';
import { meteredAttempts, priceOf, unpricedAttempts } from './unpriced-requests.ts';
import { whoseRollups } from './whose-rollups.ts';

export interface MeteredRow {
  readonly bucket_start: Date;
  readonly provider_id: string | null;
  readonly endpoint_id: string | null;
  readonly upstream_model: string | null;
  /** Attempts that used something. */
  readonly requests: number;
  readonly failed_requests: number;
  readonly estimated_requests: number;
  readonly unpriced_requests: number;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  /** Exact, as text: it may exceed 64 bits. */
  readonly cost_picos: string;
}

export interface MeteredQuestion {
  readonly organizationId: string;
  /** With a user id, only that user's. */
  readonly userId: string | undefined;
  readonly range: BucketRange;
  readonly limit: number;
}

/** Reads the usage of attempts in each bucket, by endpoint, as providers bill it. Leaves out requests that reached no endpoint. */
export async function readMetered(db: Kysely<Database>, question: MeteredQuestion): Promise<MeteredRow[]> {
  return (await meteredQuery(question).execute(db)).rows;
}

export function meteredQuery({
  organizationId,
  userId,
  range,
  limit,
}: MeteredQuestion): RawBuilder<MeteredRow> {
  const { bucket, fromMs, toMs } = range;
  const sum = (column: string) => sql`sum(rollup.${sql.ref(column)})::bigint as ${sql.ref(column)}`;
  return sql`
    select rollup.bucket_start, rollup.provider_id, rollup.endpoint_id, endpoint.upstream_model,
      sum(${meteredAttempts('rollup')})::bigint as requests,
      sum(rollup.requests_failed)::bigint as failed_requests,
      sum(rollup.requests_estimated)::bigint as estimated_requests,
      ${unpricedAttempts('rollup')}::bigint as unpriced_requests,
      ${sum('input_tokens')}, ${sum('cached_input_tokens')}, ${sum('output_tokens')},
      ${exactCost('rollup')}::text as cost_picos
    from request_rollups rollup ${priceOf('rollup')}
    left join ${everNamed('endpoints')} endpoint
      on endpoint.organization_id = rollup.organization_id and endpoint.id = rollup.endpoint_id
    where rollup.organization_id = ${organizationId} and rollup.bucket = ${bucket} and ${whoseRollups('rollup', userId)}
      and rollup.bucket_start >= ${new Date(fromMs)} and rollup.bucket_start < ${new Date(toMs)}
      and rollup.endpoint_id is not null
    group by 1, 2, 3, 4 order by 1, 4, 3 limit ${limit}`;
}
