import { type Kysely, sql } from 'kysely';
import type { Database } from '../../postgres/schema.ts';
import { exactCost, fallbackCost } from './exact-cost.ts';
import { pricedAttempts, priceOf, unpricedRequests } from './unpriced-requests.ts';

/** A period of whole UTC days; the end is exclusive. */
export interface Period {
  readonly startMs: number;
  readonly endMs: number;
}

export interface StatementSums {
  readonly requests: number;
  readonly metered_requests: number;
  readonly estimated_requests: number;
  readonly unpriced_requests: number;
  readonly priced_attempts: number;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  /** Exact, as text: it may exceed 64 bits. */
  readonly cost_picos: string;
  /** The part of the cost of attempts that another attempt followed. */
  readonly fallback_cost_picos: string;
}

/** Stands for "no user" or "no key" in the order of lines. */
export const NO_ID = '00000000-0000-0000-0000-000000000000';

export interface StatementLine extends StatementSums {
  /** `NO_ID` when the requests had no user. */
  readonly user_id: string;
  /** `NO_ID` when the requests had no key, or lines are by user. */
  readonly key_id: string;
  /** Null for a former member. */
  readonly user_name: string | null;
  /** Null for a deleted key. */
  readonly key_name: string | null;
}

export interface StatementLines {
  readonly organizationId: string;
  readonly period: Period;
  readonly by: 'user' | 'key';
  readonly limit: number;
  readonly after: Pick<StatementLine, 'user_id' | 'key_id'> | null;
}

/** `sum(bigint)` is numeric in PostgreSQL; the cast back fails rather than round. */
const SUMS = sql`
  coalesce(sum(requests_completed + requests_failed + requests_cancelled), 0)::bigint as requests,
  coalesce(sum(requests_metered), 0)::bigint as metered_requests,
  coalesce(sum(requests_estimated), 0)::bigint as estimated_requests,
  ${unpricedRequests('usage')}::bigint as unpriced_requests,
  ${pricedAttempts('usage')}::bigint as priced_attempts,
  coalesce(sum(input_tokens), 0)::bigint as input_tokens,
  coalesce(sum(cached_input_tokens), 0)::bigint as cached_input_tokens,
  coalesce(sum(output_tokens), 0)::bigint as output_tokens,
  ${exactCost('usage')}::text as cost_picos,
  ${fallbackCost('usage')}::text as fallback_cost_picos`;

function usageIn({ startMs, endMs }: Period, organizationId: string, family: 'resource' | 'caller') {
  return sql`
    request_rollups as usage ${priceOf('usage')}
    where usage.organization_id = ${organizationId} and usage.bucket = 'day' and usage.family = ${family}
      and usage.bucket_start >= ${new Date(startMs)} and usage.bucket_start < ${new Date(endMs)}`;
}

/** The organization's total usage. */
export async function readStatementTotals(
  db: Kysely<Database>,
  organizationId: string,
  period: Period,
): Promise<StatementSums> {
  const { rows } = await sql<StatementSums>`
    select ${SUMS} from ${usageIn(period, organizationId, 'resource')}`.execute(db);
  const [sums] = rows;
  if (sums === undefined) throw new Error('an aggregate query returned no row');
  return sums;
}

/** One line per user, or per user and key, with any usage; ordered by their ids. */
export async function readStatementLines(
  db: Kysely<Database>,
  { organizationId, period, by, limit, after }: StatementLines,
): Promise<StatementLine[]> {
  const userId = sql`coalesce(usage.user_id, ${NO_ID}::uuid)`;
  const keyId = by === 'key' ? sql`coalesce(usage.key_id, ${NO_ID}::uuid)` : sql`${NO_ID}::uuid`;
  const rest =
    after === null ? sql`` : sql`and (${userId}, ${keyId}) > (${after.user_id}::uuid, ${after.key_id}::uuid)`;
  const { rows } = await sql<StatementLine>`
    with line as (
      select ${userId} as user_id, ${keyId} as key_id, ${SUMS}
      from ${usageIn(period, organizationId, 'caller')} ${rest}
      group by 1, 2 order by 1, 2 limit ${limit}
    )
    select line.*, coalesce(person.name, former.name) as user_name, key.name as key_name
    from line
    left join organization_members as member on member.organization_id = ${organizationId} and member.user_id = line.user_id
    left join users as person on person.id = member.user_id
    left join former_members as former on former.organization_id = ${organizationId} and former.user_id = line.user_id
    left join api_keys as key on key.organization_id = ${organizationId} and key.id = line.key_id
    order by line.user_id, line.key_id`.execute(db);
  return rows;
}
