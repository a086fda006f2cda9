import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Histogram } from '../../../domain/histogram.ts';
import type { Database } from '../../postgres/schema.ts';
import type { RangeQuestion } from './bucket.ts';
import { exactCost } from './exact-cost.ts';
import { countsOf, histogramIn, joinedBins, joinedCounts } from './read-durations.ts';
import { whoseRollups } from './whose-rollups.ts';

/** What one endpoint did in the range. */
export interface EndpointSums {
  readonly endpointId: string;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly costPicos: bigint;
  readonly ttft: Histogram;
  readonly latency: Histogram;
  /** Requests by start of the bucket. */
  readonly series: ReadonlyMap<number, number>;
}

interface StoredSums {
  readonly endpoint_id: string;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly cost_picos: string;
  readonly coarse: string | null;
  readonly bins: string | null;
  readonly counts: string | null;
  readonly ttft_bins: string | null;
  readonly ttft_counts: string | null;
  /** Seconds since 1970 and requests, in turns. */
  readonly series: string;
}

/** Every endpoint with requests in the range, in one pass over the rollups. */
export async function readEndpoints(db: Kysely<Database>, question: RangeQuestion): Promise<EndpointSums[]> {
  const { rows } = await endpointsQuery(question).execute(db);
  return rows.map((row) => ({
    endpointId: row.endpoint_id,
    completed: row.completed,
    failed: row.failed,
    cancelled: row.cancelled,
    costPicos: BigInt(row.cost_picos),
    ttft: histogramIn({ coarse: null, bins: row.ttft_bins, counts: row.ttft_counts }),
    latency: histogramIn(row),
    series: seriesIn(row.series),
  }));
}

export function endpointsQuery({ organizationId, userId, range }: RangeQuestion): RawBuilder<StoredSums> {
  return sql`
    select rollup.endpoint_id, sum(rollup.requests_completed)::bigint as completed,
      sum(rollup.requests_failed)::bigint as failed, sum(rollup.requests_cancelled)::bigint as cancelled,
      ${exactCost('rollup')}::text as cost_picos, ${countsOf('latency')},
      ${joinedBins('ttft')} as ttft_bins, ${joinedCounts('ttft')} as ttft_counts,
      string_agg(extract(epoch from rollup.bucket_start)::bigint || ' '
        || rollup.requests_completed + rollup.requests_failed + rollup.requests_cancelled, ' ') as series
    from request_rollups rollup
    where rollup.organization_id = ${organizationId} and rollup.bucket = ${range.bucket} and ${whoseRollups('rollup', userId)}
      and rollup.bucket_start >= ${new Date(range.fromMs)} and rollup.bucket_start < ${new Date(range.toMs)}
      and rollup.endpoint_id is not null
    group by rollup.endpoint_id`;
}

function seriesIn(text: string): Map<number, number> {
  const series = new Map<number, number>();
  const values = text.split(' ').map(Number);
  for (let place = 0; place + 1 < values.length; place += 2) {
    const startMs = (values[place] ?? 0) * 1_000;
    series.set(startMs, (series.get(startMs) ?? 0) + (values[place + 1] ?? 0));
  }
  return series;
}
