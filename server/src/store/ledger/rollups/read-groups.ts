import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Histogram } from '../../../domain/histogram.ts';
import type { Database } from '../../postgres/schema.ts';
import type { RangeQuestion } from './bucket.ts';
import { exactCost, fallbackCost } from './exact-cost.ts';
import {
  type Durations,
  histogramIn,
  namedCountsOf,
  numbersIn,
  type StoredCounts,
} from './read-durations.ts';
import {
  meteredAttempts,
  pricedAttempts,
  priceOf,
  sentAttempts,
  unpricedAttempts,
  unpricedRequests,
} from './unpriced-requests.ts';
import { callerRollups, whoseRollups } from './whose-rollups.ts';

interface Grouping {
  readonly column: 'endpoint_id' | 'lane_id' | 'key_id';
  readonly rollupsOf: typeof whoseRollups;
  /** Whether requests without a value in the column are a group too. */
  readonly hasNone: boolean;
  /** True if usage counts by attempts, each at its own endpoint. */
  readonly byAttempt: boolean;
  readonly durations: readonly Durations[];
}

/** What the rollups of a range can be summed by, each in one statement for all groups. */
const GROUPINGS = {
  endpoint: {
    column: 'endpoint_id',
    rollupsOf: whoseRollups,
    hasNone: false,
    byAttempt: true,
    durations: ['ttft', 'latency'],
  },
  lane: { column: 'lane_id', rollupsOf: whoseRollups, hasNone: true, byAttempt: false, durations: ['wait'] },
  api_key: {
    column: 'key_id',
    rollupsOf: callerRollups,
    hasNone: true,
    byAttempt: false,
    durations: ['wait'],
  },
} as const satisfies Record<string, Grouping>;

export type GroupedBy = keyof typeof GROUPINGS;

/** Counts and cost of requests. */
export interface TrafficSums {
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  /** The part of `failed` that reached no endpoint. */
  readonly rejected: number;
  readonly fallbacks: number;
  /** With usage: requests, or for endpoints, attempts. */
  readonly metered: number;
  /** The part of `metered` whose cost is unknown. */
  readonly unpriced: number;
  /** Attempts that used something and have a price. */
  readonly priced: number;
  readonly costPicos: bigint;
  /** The part of the cost of attempts that another attempt followed. */
  readonly fallbackCostPicos: bigint;
}

/** What one endpoint, lane or key did in the range. */
export interface GroupSums extends TrafficSums {
  /** Null for requests without one. */
  readonly id: string | null;
  /** Requests by start of the bucket. */
  readonly series: ReadonlyMap<number, number>;
  /** Empty for durations that are not read for this grouping. */
  readonly durations: Readonly<Record<Durations, Histogram>>;
}

/** Groups that are only summed. */
export interface OtherGroups extends TrafficSums {
  readonly groups: number;
}

export interface ReadGroups {
  /** Those with the highest cost first, then those with the most requests. */
  readonly groups: readonly GroupSums[];
  /** Null if there are no more groups. */
  readonly other: OtherGroups | null;
}

const COUNTS = [
  'completed',
  'failed',
  'cancelled',
  'rejected',
  'fallbacks',
  'metered',
  'unpriced',
  'priced',
] as const satisfies readonly (keyof TrafficSums)[];

interface StoredGroup
  extends Readonly<Record<(typeof COUNTS)[number], number>>,
    Readonly<Partial<Record<`${Durations}_${keyof StoredCounts}`, string | null>>> {
  /** By cost; null for the groups that are only summed. */
  readonly place: number | null;
  readonly groups: number;
  readonly id: string | null;
  readonly cost_picos: string;
  readonly fallback_cost_picos: string;
  /** Seconds since 1970 and requests, in turns. */
  readonly series: string | null;
}

/** Every group with requests or attempts in the range, in one pass over the rollups. Sums the groups after the first `most`. */
export async function readGroups(
  db: Kysely<Database>,
  by: GroupedBy,
  question: RangeQuestion,
  most: number,
): Promise<ReadGroups> {
  const { rows } = await groupsQuery(by, question, most).execute(db);
  const other = rows.find(({ place }) => place === null);
  return {
    groups: rows
      .filter(({ place }) => place !== null)
      .toSorted((a, b) => Number(a.place) - Number(b.place))
      .map(groupOf),
    other: other === undefined ? null : { groups: other.groups, ...sumsOf(other) },
  };
}

export function groupsQuery(
  by: GroupedBy,
  { organizationId, userId, range }: RangeQuestion,
  most: number,
): RawBuilder<StoredGroup> {
  const { column, rollupsOf, hasNone, byAttempt, durations }: Grouping = GROUPINGS[by];
  const id = sql.ref(`rollup.${column}`);
  const requests = sql`rollup.requests_completed + rollup.requests_failed + rollup.requests_cancelled`;
  const metered = byAttempt ? meteredAttempts('rollup') : sql.ref('rollup.requests_metered');
  const unpriced = (byAttempt ? unpricedAttempts : unpricedRequests)('rollup');
  const histograms = durations.map(namedCountsOf);
  const none = durations.flatMap(columnNamesOf).map(() => sql`null`);
  const summed = COUNTS.map((name) => sql`sum(${sql.ref(name)})::bigint`);
  return sql`
    with grouped as materialized (
      select ${id} as id, row_number() over (order by ${exactCost('rollup')} desc, sum(${requests}) desc, ${id}) as place,
        sum(rollup.requests_completed)::bigint as completed, sum(rollup.requests_failed)::bigint as failed,
        sum(rollup.requests_cancelled)::bigint as cancelled,
        sum(case when rollup.endpoint_id is null then rollup.requests_failed else 0 end)::bigint as rejected,
        sum(rollup.fallbacks)::bigint as fallbacks, sum(${metered})::bigint as metered,
        ${unpriced}::bigint as unpriced, ${pricedAttempts('rollup')}::bigint as priced, ${exactCost('rollup')} as cost_picos, ${fallbackCost('rollup')} as fallback_cost_picos,
        string_agg(date_part('epoch', rollup.bucket_start)::bigint || ',' || ${requests}, ',') as series,
        ${sql.join(histograms)}
      from request_rollups rollup ${priceOf('rollup')}
      where rollup.organization_id = ${organizationId} and rollup.bucket = ${range.bucket} and ${rollupsOf('rollup', userId)}
        and rollup.bucket_start >= ${new Date(range.fromMs)} and rollup.bucket_start < ${new Date(range.toMs)}
        ${hasNone ? sql`` : sql`and ${id} is not null`}
      group by ${id} having sum(${requests}) > 0 or sum(${sentAttempts('rollup')}) > 0
    )
    select place, 1::bigint as groups, id, ${sql.join(COUNTS.map((name) => sql.ref(name)))}, cost_picos::text,
      fallback_cost_picos::text, series,
      ${sql.join(durations.flatMap(columnNamesOf).map((name) => sql.ref(name)))}
    from grouped where place <= ${most}
    union all
    select null, count(*), null, ${sql.join(summed)}, sum(cost_picos)::text,
      sum(fallback_cost_picos)::text, null, ${sql.join(none)}
    from grouped where place > ${most} having count(*) > 0`;
}

function columnNamesOf(durations: Durations) {
  return (['coarse', 'bins', 'counts'] as const).map((part) => `${durations}_${part}` as const);
}

function groupOf(row: StoredGroup): GroupSums {
  const histogramOf = (durations: Durations): Histogram => {
    const part = (name: keyof StoredCounts) => row[`${durations}_${name}`] ?? null;
    return histogramIn({ coarse: part('coarse'), bins: part('bins'), counts: part('counts') });
  };
  return {
    id: row.id,
    ...sumsOf(row),
    series: seriesIn(row.series),
    durations: { wait: histogramOf('wait'), latency: histogramOf('latency'), ttft: histogramOf('ttft') },
  };
}

function sumsOf({
  completed,
  failed,
  cancelled,
  rejected,
  fallbacks,
  metered,
  unpriced,
  priced,
  cost_picos,
  fallback_cost_picos,
}: StoredGroup) {
  return {
    completed,
    failed,
    cancelled,
    rejected,
    fallbacks,
    metered,
    unpriced,
    priced,
    costPicos: BigInt(cost_picos),
    fallbackCostPicos: BigInt(fallback_cost_picos),
  };
}

function seriesIn(text: string | null): Map<number, number> {
  const series = new Map<number, number>();
  const values = numbersIn(text);
  for (let place = 0; place + 1 < values.length; place += 2) {
    const startMs = (values[place] ?? 0) * 1_000;
    series.set(startMs, (series.get(startMs) ?? 0) + (values[place + 1] ?? 0));
  }
  return series;
}
