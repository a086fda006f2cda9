import type { UsageLine, UsageTotals } from '@relay/contract';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { cursorOfId, idOfCursor, unknownCursor } from '../paging.ts';

/** A calendar month in UTC. */
export interface Month {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
}

export function monthOf(name: string): Month {
  const [year = 0, month = 0] = name.split('-').map(Number);
  return { name, startMs: Date.UTC(year, month - 1), endMs: Date.UTC(year, month) };
}

export function monthAt(timeMs: number): Month {
  return monthOf(new Date(timeMs).toISOString().slice(0, 7));
}

export interface StatementLines {
  readonly organizationId: string;
  readonly month: Month;
  readonly by: 'user' | 'key';
  readonly limit: number;
  readonly cursor: string | undefined;
}

interface Sums {
  readonly requests: number;
  readonly metered_requests: number;
  readonly estimated_requests: number;
  readonly unpriced_requests: number;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly cost_micros: number;
}

/**
 * Sums of the day rollups. PostgreSQL adds integers up to a number without bound, which is brought back to one that is read
 * exactly or not at all. A request without a cost at an endpoint without a price was not free: nobody knows what it cost.
 */
const SUMS = sql`
  coalesce(sum(requests_completed + requests_failed + requests_cancelled), 0)::bigint as requests,
  coalesce(sum(requests_metered), 0)::bigint as metered_requests,
  coalesce(sum(requests_estimated), 0)::bigint as estimated_requests,
  coalesce(sum(requests_metered) filter (where usage.cost_micros = 0 and price.id is null), 0)::bigint as unpriced_requests,
  coalesce(sum(input_tokens), 0)::bigint as input_tokens,
  coalesce(sum(cached_input_tokens), 0)::bigint as cached_input_tokens,
  coalesce(sum(output_tokens), 0)::bigint as output_tokens,
  coalesce(sum(usage.cost_micros), 0)::bigint as cost_micros`;

function usageIn({ startMs, endMs }: Month, organizationId: string, family: 'resource' | 'caller') {
  return sql`
    request_rollups as usage
    left join pricing_policies as price
      on price.organization_id = usage.organization_id and price.endpoint_id = usage.endpoint_id
    where usage.organization_id = ${organizationId} and usage.bucket = 'day' and usage.family = ${family}
      and usage.bucket_start >= ${new Date(startMs)} and usage.bucket_start < ${new Date(endMs)}`;
}

/** Everything the organization used. */
export async function readTotals(
  db: Kysely<Database>,
  organizationId: string,
  month: Month,
): Promise<UsageTotals> {
  const { rows } = await sql<Sums>`select ${SUMS} from ${usageIn(month, organizationId, 'resource')}`.execute(
    db,
  );
  const [sums] = rows;
  if (sums === undefined) throw new Error('a sum has no row');
  return toTotals(sums);
}

/** What stands for a user or key that there is none of, in the order of lines. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

interface LineRow extends Sums {
  readonly user_id: string;
  readonly key_id: string;
  readonly user_name: string | null;
  readonly key_name: string | null;
}

/** A line for each user, or for each user and key, that used anything, in the order of their ids. */
export async function readLines(
  db: Kysely<Database>,
  { organizationId, month, by, limit, cursor }: StatementLines,
): Promise<{ lines: UsageLine[]; nextCursor: string | null }> {
  const [afterUser, afterKey] = cursor === undefined ? [null, null] : idsOfCursor(cursor);
  const userId = sql`coalesce(usage.user_id, ${NO_ID}::uuid)`;
  const keyId = by === 'key' ? sql`coalesce(usage.key_id, ${NO_ID}::uuid)` : sql`${NO_ID}::uuid`;
  const { rows } = await sql<LineRow>`
    with line as (
      select ${userId} as user_id, ${keyId} as key_id, ${SUMS}
      from ${usageIn(month, organizationId, 'caller')}
        and (${afterUser}::uuid is null or (${userId}, ${keyId}) > (${afterUser}::uuid, ${afterKey}::uuid))
      group by 1, 2 order by 1, 2 limit ${limit + 1}
    )
    select line.*, person.name as user_name, key.name as key_name
    from line
    left join organization_members as member on member.organization_id = ${organizationId} and member.user_id = line.user_id
    left join users as person on person.id = member.user_id
    left join api_keys as key on key.organization_id = ${organizationId} and key.id = line.key_id
    order by line.user_id, line.key_id`.execute(db);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return {
    lines: shown.map(toLine),
    nextCursor: last === undefined ? null : `${cursorOfId(last.user_id)}.${cursorOfId(last.key_id)}`,
  };
}

function idsOfCursor(cursor: string): [string, string] {
  const [user, key, ...more] = cursor.split('.');
  if (user === undefined || key === undefined || more.length > 0) throw unknownCursor();
  return [idOfCursor(user), idOfCursor(key)];
}

function toLine(row: LineRow): UsageLine {
  return {
    user_uuid: row.user_id === NO_ID ? null : row.user_id,
    user_name: row.user_name,
    api_key_id: row.key_id === NO_ID ? null : row.key_id,
    api_key_name: row.key_name,
    ...toTotals(row),
  };
}

function toTotals(row: Sums): UsageTotals {
  const nothingPriced = row.metered_requests > 0 && row.unpriced_requests === row.metered_requests;
  return {
    requests: row.requests,
    metered_requests: row.metered_requests,
    estimated_requests: row.estimated_requests,
    unpriced_requests: row.unpriced_requests,
    input_tokens: row.input_tokens,
    cached_input_tokens: row.cached_input_tokens,
    output_tokens: row.output_tokens,
    metered_spend_micros: nothingPriced ? null : row.cost_micros,
  };
}
