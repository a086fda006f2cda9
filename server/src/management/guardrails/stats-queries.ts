import { type RawBuilder, sql } from 'kysely';
import { HISTOGRAM_BOUNDS_MS } from '../../domain/histogram.ts';
import { VERDICTS } from '../../store/ledger/guardrail-rollups.ts';
import type { Range } from '../stats/range.ts';

/** Counts in the order of `VERDICTS`; big numbers come as text. */
export interface VerdictRow {
  readonly guardrail_id: string;
  readonly bucket_start: Date | null;
  readonly verdicts: readonly unknown[];
  readonly histogram: readonly unknown[];
}

const VERDICT_SUMS = sql`array[${sql.join(VERDICTS.map((verdict) => sql`sum(${sql.ref(verdict)})`))}]::bigint[]`;
const LATENCY_SUMS = sql`array[${sql.join(
  Array.from(
    { length: HISTOGRAM_BOUNDS_MS.length + 1 },
    (_, place) => sql`coalesce(sum(latency_histogram[${sql.lit(place + 1)}]), 0)`,
  ),
)}]::bigint[]`;

/** What guardrails said in this time, from their sums alone: of all of them in all, or of one of them bucket by bucket. */
export function verdictsQuery(
  organizationId: string,
  { bucket, fromMs, toMs }: Range,
  guardrailId?: string,
): RawBuilder<VerdictRow> {
  const one = guardrailId === undefined ? sql`` : sql`and guardrail_id = ${guardrailId}`;
  const at = guardrailId === undefined ? sql`null::timestamptz` : sql`bucket_start`;
  return sql`
    select guardrail_id, ${at} as bucket_start, ${VERDICT_SUMS} as verdicts, ${LATENCY_SUMS} as histogram
    from guardrail_rollups
    where organization_id = ${organizationId} and bucket = ${bucket}
      and bucket_start >= ${new Date(fromMs)} and bucket_start < ${new Date(toMs)} ${one}
    group by 1, 2 order by 1, 2`;
}

/** Where a guardrail is bound, or would be. */
export interface BoundTo {
  readonly global: boolean;
  readonly laneIds: readonly string[];
  readonly providerIds: readonly string[];
  readonly endpointIds: readonly string[];
}

/**
 * Requests that a guardrail bound there could not have inspected. Such a request is refused when any candidate is guarded, so what
 * is bound to an endpoint reaches every request of the lanes that the endpoint is a member of.
 */
export function uninspectableQuery(
  organizationId: string,
  { bucket, fromMs, toMs }: Range,
  to: BoundTo,
): RawBuilder<{ streaming: number; embeddings: number }> {
  const guarded = sql`(select id from endpoints where organization_id = ${organizationId}
    and (id = any(${to.endpointIds}::uuid[]) or provider_id = any(${to.providerIds}::uuid[])))`;
  const lanes = sql`(select lane_id from lane_memberships
    where organization_id = ${organizationId} and enabled and endpoint_id in ${guarded})`;
  const reached = to.global
    ? sql``
    : sql`and (lane_id = any(${to.laneIds}::uuid[]) or lane_id in ${lanes} or endpoint_id in ${guarded})`;
  return sql`
    select coalesce(sum(requests_streaming), 0)::bigint as streaming,
      coalesce(sum(requests_embeddings), 0)::bigint as embeddings
    from request_rollups
    where organization_id = ${organizationId} and bucket = ${bucket} and family = 'resource'
      and bucket_start >= ${new Date(fromMs)} and bucket_start < ${new Date(toMs)} ${reached}`;
}
