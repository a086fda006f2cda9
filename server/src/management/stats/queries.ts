import { type Kysely, type RawBuilder, sql } from 'kysely';
import { HISTOGRAM_BOUNDS_MS } from '../../domain/histogram.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { Range } from './range.ts';

export type Histogram = 'wait_histogram' | 'latency_histogram';
export type Sum =
  | 'requests_completed'
  | 'requests_failed'
  | 'requests_cancelled'
  | 'fallbacks'
  | 'input_tokens'
  | 'cached_input_tokens'
  | 'output_tokens'
  | 'cost_micros'
  | 'ttft_ms_sum'
  | 'ttft_count';

/** What requests can be told apart by in the rollups. */
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
  readonly range: Range;
  readonly conditions: Conditions;
  readonly dimension: Dimension | null;
  /** The sums wanted; by their total the greatest groups are chosen. */
  readonly sums: readonly Sum[];
  readonly histogram: Histogram | null;
}

export interface SeriesRow {
  /** The group: empty for requests without the thing they are grouped by, null for those of all other groups. */
  readonly name: string | null;
  readonly bucket_start: Date;
  /** In the order asked for. */
  readonly sums: readonly unknown[];
  readonly histogram: readonly unknown[];
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

/**
 * Sums of each bucket and group, from rollups alone. The greatest groups are found first, so that the answer is bounded however
 * many there are. Whoever asks about users or keys reads the sums of callers; all others read those of resources, which are
 * far fewer.
 */
export function seriesQuery(question: SeriesQuestion): RawBuilder<SeriesRow> {
  const { dimension, histogram } = question;
  const sums = sql`array[${sql.join(question.sums.map(totalOf))}]::bigint[] as sums`;
  const places = HISTOGRAM_BOUNDS_MS.length + 1;
  const counts =
    histogram === null
      ? sql`'{}'::bigint[] as histogram`
      : sql`array[${sql.join(Array.from({ length: places }, (_, place) => countOf(histogram, place)))}]::bigint[] as histogram`;
  if (dimension === null) {
    return sql`select '' as name, bucket_start, ${sums}, ${counts} ${rollupsOf(question)} group by bucket_start`;
  }
  const name = sql`coalesce(${DIMENSIONS[dimension]}, '')`;
  const rank = sql.join(question.sums.map(totalOf), sql` + `);
  const greatest = sql`left join greatest_groups on greatest_groups.name = ${name}`;
  return sql`
    with greatest_groups as materialized (
      select ${name} as name ${rollupsOf(question)} group by 1 order by ${rank} desc, 1 limit ${GROUPS_MAX}
    )
    select greatest_groups.name, bucket_start, ${sums}, ${counts} ${rollupsOf(question, greatest)} group by 1, 2`;
}

function rollupsOf(
  { organizationId, range, conditions, dimension }: SeriesQuestion,
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
      ? sql`left join endpoints endpoint
          on endpoint.organization_id = rollup.organization_id and endpoint.id = rollup.endpoint_id`
      : sql``;
  return sql`
    from request_rollups rollup ${endpoints} ${joined}
    where rollup.organization_id = ${organizationId} and rollup.bucket = ${range.bucket}
      and rollup.family = ${byCaller ? 'caller' : 'resource'}
      and rollup.bucket_start >= ${new Date(range.fromMs)} and rollup.bucket_start < ${new Date(range.toMs)}
      ${sql.join(wanted, sql` `)}`;
}

function totalOf(sum: Sum): RawBuilder<unknown> {
  return sql`sum(rollup.${sql.ref(sum)})`;
}

function countOf(histogram: Histogram, place: number): RawBuilder<unknown> {
  return sql`coalesce(sum(rollup.${sql.ref(histogram)}[${sql.lit(place + 1)}]), 0)`;
}

export interface Counts {
  readonly providers: number;
  readonly endpoints: number;
  readonly lanes: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** What is configured, and every request there ever was, as the sums of days have it; the user narrows it to their own. */
export function summaryQuery(organizationId: string, userId: string | undefined): RawBuilder<Counts> {
  const rows = (table: 'providers' | 'endpoints' | 'lanes') =>
    sql`(select count(*) from ${sql.table(table)} where organization_id = ${organizationId})`;
  const whose =
    userId === undefined ? sql`family = 'resource'` : sql`family = 'caller' and user_id = ${userId}`;
  return sql`
    select ${rows('providers')} as providers, ${rows('endpoints')} as endpoints, ${rows('lanes')} as lanes,
      coalesce(sum(requests_completed), 0)::bigint as completed,
      coalesce(sum(requests_failed), 0)::bigint as failed,
      coalesce(sum(requests_cancelled), 0)::bigint as cancelled
    from request_rollups where organization_id = ${organizationId} and bucket = 'day' and ${whose}`;
}

const NAMED = {
  lane: 'lanes',
  endpoint: 'endpoints',
  provider: 'providers',
  api_key: 'api_keys',
  user: 'users',
} as const;

/** What these ids are called; those of what is gone are not there. */
export async function namesOf(
  db: Kysely<Database>,
  organizationId: string,
  dimension: Dimension,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (dimension === 'model' || ids.length === 0) return new Map();
  const own =
    dimension === 'user'
      ? sql`id in (select user_id from organization_members where organization_id = ${organizationId})`
      : sql`organization_id = ${organizationId}`;
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from ${sql.table(NAMED[dimension])} where ${own} and id = any(${ids}::uuid[])`.execute(
    db,
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
