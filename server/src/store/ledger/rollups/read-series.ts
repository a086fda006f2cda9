import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Histogram } from '../../../domain/histogram.ts';
import { everNamed } from '../../postgres/ever-named.ts';
import type { Database } from '../../postgres/schema.ts';
import type { BucketRange } from './bucket.ts';
import { exactCost, fallbackCost } from './exact-cost.ts';
import { countsOf, type Durations, histogramIn, NO_COUNTS, type StoredCounts } from './read-durations.ts';
import { pricedAttempts, priceOf, unpricedAttempts, unpricedRequests } from './unpriced-requests.ts';
import { whoseRollups } from './whose-rollups.ts';

export type Sum =
  | 'requests_completed'
  | 'requests_failed'
  | 'requests_cancelled'
  /** Completed ones that waited for capacity. */
  | 'requests_waited'
  /** Those that reached no endpoint. */
  | 'requests_undispatched'
  | 'fallbacks'
  | 'input_tokens'
  | 'cached_input_tokens'
  | 'output_tokens'
  | 'cost_picos'
  /** Attempts that used something, with and without a price. */
  | 'priced_attempts'
  | 'unpriced_attempts'
  /** Requests with such an attempt; by endpoint, provider and model, the attempts. */
  | 'unpriced_requests'
  /** Cost of attempts that another attempt followed. */
  | 'fallback_cost_picos'
  | 'ttft_ms_sum'
  | 'ttft_count';

/** What rollups can be grouped by. */
export type Dimension = 'lane' | 'endpoint' | 'provider' | 'model' | 'api_key' | 'user';

export interface Conditions {
  readonly lane_id?: string | undefined;
  readonly endpoint_id?: string | undefined;
  readonly provider_id?: string | undefined;
  readonly key_id?: string | undefined;
  readonly user_id?: string | undefined;
}

export interface SeriesQuestion {
  readonly organizationId: string;
  readonly range: BucketRange;
  readonly conditions: Conditions;
  readonly dimension: Dimension | null;
  /** The sums to read; their total decides which groups are the largest. */
  readonly sums: readonly Sum[];
  /** Further sums, which follow `sums` in what is read. */
  readonly beside?: readonly Sum[];
  readonly histogram: Durations | null;
}

/** Sums over requests, and a histogram of their durations. */
export interface Measured {
  /** In the order that was asked for. */
  readonly sums: readonly bigint[];
  readonly histogram: Histogram;
}

export interface SeriesRow extends Measured {
  /** The group: empty for requests without a value in this dimension, null for all groups that are not shown. */
  readonly name: string | null;
  readonly bucketStartMs: number;
}

interface StoredSeriesRow extends StoredCounts {
  readonly name: string | null;
  readonly bucket_start: Date;
  /** Text, because 64 bits do not hold every sum of money. */
  readonly sums: readonly string[];
}

const GROUPS_MAX = 50;

const DIMENSIONS: Readonly<Record<Dimension, RawBuilder<string | null>>> = {
  lane: sql`rollup.lane_id::text`,
  endpoint: sql`rollup.endpoint_id::text`,
  provider: sql`rollup.provider_id::text`,
  model: sql`coalesce(endpoint.upstream_model, rollup.endpoint_id::text)`,
  api_key: sql`rollup.key_id::text`,
  user: sql`rollup.user_id::text`,
};

/** The sums of each bucket and group, read from rollups only. */
export async function readSeries(db: Kysely<Database>, question: SeriesQuestion): Promise<SeriesRow[]> {
  const { rows } = await seriesQuery(question).execute(db);
  return rows.map((row) => ({
    name: row.name,
    bucketStartMs: row.bucket_start.getTime(),
    sums: row.sums.map(BigInt),
    histogram: histogramIn(row),
  }));
}

/**
 * Finds the largest groups first, so the result is bounded however many groups exist. Questions about users or keys read the
 * `caller` family; all others read the `resource` family, which has far fewer rows.
 */
export function seriesQuery(question: SeriesQuestion): RawBuilder<StoredSeriesRow> {
  const { greatest, name, joined } = groupsOf(question);
  const read = [...question.sums, ...(question.beside ?? [])];
  const sums = sql`array[${sql.join(read.map((sum) => totalOf(sum, question)))}]::text[]`;
  const counts = question.histogram === null ? NO_COUNTS : countsOf(question.histogram);
  return sql`${greatest}
    select ${name} as name, bucket_start, ${sums} as sums, ${counts}
    ${rollupsOf(question, joined)} group by 1, 2`;
}

/** How the rows of a question are grouped: a clause that finds the groups to show, their name, and a join with them. */
function groupsOf(question: SeriesQuestion) {
  const { dimension } = question;
  if (dimension === null) return { greatest: sql``, name: sql`''::text`, joined: sql`` };
  const name = sql`coalesce(${DIMENSIONS[dimension]}, '')`;
  const rank = sql.join(
    question.sums.map((sum) => totalOf(sum, question)),
    sql` + `,
  );
  return {
    greatest: sql`with greatest_groups as materialized (
      select ${name} as name ${rollupsOf(question)} group by 1 order by ${rank} desc, 1 limit ${GROUPS_MAX}
    )`,
    name: sql`greatest_groups.name`,
    joined: sql`left join greatest_groups on greatest_groups.name = ${name}`,
  };
}

function rollupsOf(
  { organizationId, range, conditions, dimension, beside = [] }: SeriesQuestion,
  joined: RawBuilder<unknown> = sql``,
): RawBuilder<unknown> {
  const byCaller =
    dimension === 'api_key' ||
    dimension === 'user' ||
    conditions.key_id !== undefined ||
    conditions.user_id !== undefined;
  const given = Object.entries(conditions).filter(([, value]) => value !== undefined);
  const wanted = given.map(([column, value]) => sql`and rollup.${sql.ref(column)} = ${value}`);
  const endpoints =
    dimension === 'model'
      ? sql`left join ${everNamed('endpoints')} endpoint
          on endpoint.organization_id = rollup.organization_id and endpoint.id = rollup.endpoint_id`
      : sql``;
  return sql`
    from request_rollups rollup ${beside.includes('unpriced_attempts') ? priceOf('rollup') : sql``} ${endpoints} ${joined}
    where rollup.organization_id = ${organizationId} and rollup.bucket = ${range.bucket}
      and rollup.family = ${byCaller ? 'caller' : 'resource'}
      and rollup.bucket_start >= ${new Date(range.fromMs)} and rollup.bucket_start < ${new Date(range.toMs)}
      ${sql.join(wanted, sql` `)}`;
}

function totalOf(sum: Sum, question: SeriesQuestion): RawBuilder<unknown> {
  if (sum === 'cost_picos') return exactCost('rollup');
  if (sum === 'fallback_cost_picos') return fallbackCost('rollup');
  if (sum === 'priced_attempts') return pricedAttempts('rollup');
  if (sum === 'unpriced_attempts' || (sum === 'unpriced_requests' && countsAttempts(question)))
    return unpricedAttempts('rollup');
  if (sum === 'unpriced_requests') return unpricedRequests('rollup');
  if (sum === 'requests_undispatched')
    return sql`sum(case when rollup.endpoint_id is null
      then rollup.requests_completed + rollup.requests_failed + rollup.requests_cancelled else 0 end)`;
  return sql`sum(rollup.${sql.ref(sum)})`;
}

function countsAttempts({ dimension, conditions }: SeriesQuestion): boolean {
  return (
    ['endpoint', 'provider', 'model'].includes(dimension ?? '') ||
    conditions.endpoint_id !== undefined ||
    conditions.provider_id !== undefined
  );
}

export interface StateCounts {
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** All requests since the beginning, by state, from day rollups. With a user id, only that user's. */
export async function countRequests(
  db: Kysely<Database>,
  organizationId: string,
  userId: string | undefined,
): Promise<StateCounts> {
  const { rows } = await stateCountsQuery(organizationId, userId).execute(db);
  return rows[0] ?? { completed: 0, failed: 0, cancelled: 0 };
}

export function stateCountsQuery(
  organizationId: string,
  userId: string | undefined,
): RawBuilder<StateCounts> {
  return sql`
    select coalesce(sum(requests_completed), 0)::bigint as completed,
      coalesce(sum(requests_failed), 0)::bigint as failed,
      coalesce(sum(requests_cancelled), 0)::bigint as cancelled
    from request_rollups where organization_id = ${organizationId} and bucket = 'day'
      and ${whoseRollups('request_rollups', userId)}`;
}
