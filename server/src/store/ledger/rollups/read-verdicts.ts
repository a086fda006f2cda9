import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from '../../postgres/schema.ts';
import type { BucketRange } from './bucket.ts';
import { VERDICTS } from './guardrail-rollups.ts';
import { countsOf, histogramIn, type StoredCounts } from './read-durations.ts';
import type { Measured } from './read-series.ts';

/** The sums are in the order of `VERDICTS`. */
export interface VerdictRow extends Measured {
  readonly guardrailId: string;
  /** Null when the row covers the whole range. */
  readonly bucketStartMs: number | null;
}

interface StoredVerdictRow extends StoredCounts {
  readonly guardrail_id: string;
  readonly bucket_start: Date | null;
  /** Elements of a bigint array arrive as text. */
  readonly verdicts: readonly unknown[];
}

const VERDICT_SUMS = sql`array[${sql.join(VERDICTS.map((verdict) => sql`sum(${sql.ref(verdict)})`))}]::bigint[]`;
/** Verdicts and latency: one row per guardrail, or with a guardrail id one row per bucket of that guardrail. */
export async function readVerdicts(
  db: Kysely<Database>,
  organizationId: string,
  range: BucketRange,
  guardrailId?: string,
): Promise<VerdictRow[]> {
  const { rows } = await verdictsQuery(organizationId, range, guardrailId).execute(db);
  return rows.map((row) => ({
    guardrailId: row.guardrail_id,
    bucketStartMs: row.bucket_start?.getTime() ?? null,
    sums: row.verdicts.map((sum) => BigInt(Number(sum))),
    histogram: histogramIn(row),
  }));
}

export function verdictsQuery(
  organizationId: string,
  { bucket, fromMs, toMs }: BucketRange,
  guardrailId?: string,
): RawBuilder<StoredVerdictRow> {
  const one = guardrailId === undefined ? sql`` : sql`and guardrail_id = ${guardrailId}`;
  const at = guardrailId === undefined ? sql`null::timestamptz` : sql`bucket_start`;
  return sql`
    select guardrail_id, ${at} as bucket_start, ${VERDICT_SUMS} as verdicts, ${countsOf('latency')}
    from guardrail_rollups rollup
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

export interface UninspectableCounts {
  readonly streaming: number;
  readonly embeddings: number;
}

/** Requests that a guardrail with these bindings cannot inspect. */
export async function countUninspectable(
  db: Kysely<Database>,
  organizationId: string,
  range: BucketRange,
  to: BoundTo,
): Promise<UninspectableCounts> {
  const { rows } = await uninspectableQuery(organizationId, range, to).execute(db);
  return rows[0] ?? { streaming: 0, embeddings: 0 };
}

/**
 * Relay rejects such a request when any candidate is guarded, so a binding to an endpoint affects every request of the lanes
 * that contain the endpoint.
 */
export function uninspectableQuery(
  organizationId: string,
  { bucket, fromMs, toMs }: BucketRange,
  to: BoundTo,
): RawBuilder<UninspectableCounts> {
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
