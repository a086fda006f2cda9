import { type Kysely, type RawBuilder, sql } from 'kysely';
import { everNamed } from '../../postgres/ever-named.ts';
import type { Database } from '../../postgres/schema.ts';
import type { BucketRange } from './bucket.ts';
import { exactCost } from './exact-cost.ts';
import { pricedAttempts, priceOf, sentAttempts, unpricedRequests } from './unpriced-requests.ts';

/** What usage is divided by. */
export type ShowbackGroup =
  | { readonly by: 'team' | 'key' | 'member' | 'model' }
  | { readonly by: 'label'; readonly name: string };

export interface ShowbackSums {
  readonly requests: number;
  readonly metered_requests: number;
  readonly unpriced_requests: number;
  readonly priced_attempts: number;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  /** Exact, as text: it may exceed 64 bits. */
  readonly cost_picos: string;
}

export interface ShowbackRow extends ShowbackSums {
  /** Null: requests without it. */
  readonly key: string | null;
}

/** One line of a FOCUS file: what one key spent at one endpoint for one team and set of labels, in one bucket. */
export interface FocusRow extends ShowbackSums {
  readonly bucket_start: Date;
  readonly team_id: string | null;
  readonly team_name: string | null;
  readonly parent_team_id: string | null;
  readonly labels: string;
  readonly user_id: string | null;
  readonly key_id: string | null;
  readonly key_name: string | null;
  readonly endpoint_id: string | null;
  readonly endpoint_name: string | null;
  readonly upstream_model: string | null;
  readonly provider_id: string | null;
  readonly provider_name: string | null;
}

const SUMS = sql`
  sum(usage.requests)::bigint as requests,
  sum(usage.requests_metered)::bigint as metered_requests,
  ${unpricedRequests('usage')}::bigint as unpriced_requests,
  ${pricedAttempts('usage')}::bigint as priced_attempts,
  sum(usage.input_tokens)::bigint as input_tokens,
  sum(usage.cached_input_tokens)::bigint as cached_input_tokens,
  sum(usage.output_tokens)::bigint as output_tokens,
  ${exactCost('usage')}::text as cost_picos`;

/** Leaves out a team or set of labels without requests and attempts. A request that waited past the start of the range has only attempts. */
const ANY = sql`having sum(usage.requests) <> 0 or sum(${sentAttempts('usage')}) <> 0`;

/** Usage in this range by group, the most expensive first. */
export async function readShowback(
  db: Kysely<Database>,
  organizationId: string,
  range: BucketRange,
  group: ShowbackGroup,
  limit: number,
): Promise<ShowbackRow[]> {
  const { rows } = await sql<ShowbackRow>`
    select ${keyOf(group)} as key, ${SUMS}
    from (${usageIn(organizationId, range, isAttributed(group))}) as usage ${priceOf('usage')}
    left join ${everNamed('endpoints')} as endpoint
      on endpoint.organization_id = ${organizationId} and endpoint.id = usage.endpoint_id
    group by 1 ${ANY}
    order by ${exactCost('usage')} desc, sum(usage.requests) desc, 1
    limit ${limit}`.execute(db);
  return rows;
}

/** All usage in this range, of all callers. */
export async function readShowbackTotal(
  db: Kysely<Database>,
  organizationId: string,
  range: BucketRange,
): Promise<ShowbackSums> {
  const { rows } = await sql<ShowbackSums>`
    select ${SUMS} from (${usageIn(organizationId, range, false)}) as usage ${priceOf('usage')} ${ANY}`.execute(
    db,
  );
  const nothing = {
    requests: 0,
    metered_requests: 0,
    unpriced_requests: 0,
    priced_attempts: 0,
    input_tokens: 0,
    cached_input_tokens: 0,
  };
  return rows[0] ?? { ...nothing, output_tokens: 0, cost_picos: '0' };
}

const FOCUS_KEYS = sql.join(
  [
    'bucket_start',
    'team_id',
    'parent_team_id',
    'labels',
    'user_id',
    'key_id',
    'endpoint_id',
    'provider_id',
  ].map((column) => sql.ref(`usage.${column}`)),
);

/** The lines of a FOCUS file in this range, ordered by time. */
export async function readFocus(
  db: Kysely<Database>,
  organizationId: string,
  range: BucketRange,
): Promise<FocusRow[]> {
  const own = (table: string) => sql`${sql.ref(`${table}.organization_id`)} = ${organizationId}`;
  const { rows } = await sql<FocusRow>`
    with line as (
      select ${FOCUS_KEYS}, ${SUMS}
      from (${usageIn(organizationId, range, true)}) as usage ${priceOf('usage')}
      group by ${FOCUS_KEYS} ${ANY}
    )
    select line.*, team.name as team_name, key.name as key_name, provider.name as provider_name,
      endpoint.name as endpoint_name, endpoint.upstream_model
    from line
    left join ${everNamed('teams')} as team on ${own('team')} and team.id = line.team_id
    left join api_keys as key on ${own('key')} and key.id = line.key_id
    left join ${everNamed('endpoints')} as endpoint on ${own('endpoint')} and endpoint.id = line.endpoint_id
    left join ${everNamed('providers')} as provider on ${own('provider')} and provider.id = line.provider_id
    order by line.bucket_start, line.team_id, line.key_id, line.endpoint_id, line.labels`.execute(db);
  return rows;
}

function isAttributed({ by }: ShowbackGroup): boolean {
  return by === 'team' || by === 'label';
}

function keyOf(group: ShowbackGroup): RawBuilder<string | null> {
  switch (group.by) {
    case 'team':
      return sql`usage.team_id::text`;
    case 'label':
      return sql`usage.labels::jsonb ->> ${group.name}::text`;
    case 'key':
      return sql`usage.key_id::text`;
    case 'member':
      return sql`usage.user_id::text`;
    case 'model':
      return sql`coalesce(endpoint.upstream_model, usage.endpoint_id::text)`;
  }
}

/**
 * Usage of callers. With teams and labels, what `attributed_rollups` has is subtracted where it had neither: what is left there has
 * none, also of the time before there were teams.
 */
function usageIn(
  organizationId: string,
  { bucket, fromMs, toMs }: BucketRange,
  attributed: boolean,
): RawBuilder<unknown> {
  const inRange = sql`organization_id = ${organizationId} and bucket = ${sql.lit(bucket)}
    and bucket_start >= ${new Date(fromMs)} and bucket_start < ${new Date(toMs)}`;
  const caller = sql`organization_id, user_id, key_id, endpoint_id, provider_id`;
  const nobody = sql`null::uuid as team_id, null::uuid as parent_team_id, '{}' as labels`;
  // Attempts of teams and labels are not known by whether they used something.
  const furtherMetered = attributed ? sql`further_attempts` : sql`further_metered`;
  const rest = sql`requests_metered, further_attempts, ${furtherMetered} as further_metered, input_tokens,
    cached_input_tokens, output_tokens, cost_micros, cost_rounding_picos`;
  const all = sql`
    select bucket_start, ${nobody}, ${caller},
      requests_completed + requests_failed + requests_cancelled as requests, ${rest}
    from request_rollups where ${inRange} and family = 'caller'`;
  if (!attributed) return all;
  return sql`${all}
    union all
    select bucket_start, team_id, parent_team_id, labels, ${caller}, requests, ${rest}
    from attributed_rollups where ${inRange}
    union all
    select bucket_start, ${nobody}, ${caller}, -requests, -requests_metered, -further_attempts, -further_attempts,
      -input_tokens, -cached_input_tokens, -output_tokens, -cost_micros, -cost_rounding_picos
    from attributed_rollups where ${inRange}`;
}
