import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { CountedRequests } from '../../../domain/limits/limit.ts';
import type { Quantity } from '../../../domain/limits/metric.ts';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import type { Database } from '../../postgres/schema.ts';
import { conditionsOf, type UsageWindow } from './usage-sums.ts';

/** Of a window with more, only a count below the ledger is judged: no sum tells of repeated attempts. */
const ROWS_MAX = 50_000;
/** Nothing was sent, so no limit counts it. */
const NOT_PREPARED = 'upstream_not_prepared';

/** The field of an attempt that names what such a limit is for. Attempts do not tell their credential. */
const ATTEMPT_FIELDS: Partial<Record<CountedRequests['scopeType'], string | null>> = {
  endpoint: 'endpoint_id',
  model: 'endpoint_id',
  provider: 'provider_id',
  credential: null,
};

type Amounts = Readonly<Record<Quantity, number>>;

interface ChargedRow {
  readonly seen: number;
  readonly requests: number;
  /** Attempts whose use was not recorded. */
  readonly unknown: number;
  readonly tokens: string;
  readonly spend: string;
}

/**
 * What the window of a limit counts beside the sums of the ledger: attempts that another one followed, with what limits kept of them,
 * and requests that were sent and are not metered. `Infinity` where that is not known.
 */
export async function readChargedAttempts(
  db: Kysely<Database>,
  organizationId: string,
  { counts, startMs }: Pick<UsageWindow, 'counts' | 'startMs'>,
): Promise<Amounts> {
  const { rows } = await sql<ChargedRow>`
    with newest as (
      select organization_id, user_id, key_id, team_id, parent_team_id, lane_id, usage_source, attempts from requests
      where organization_id = ${organizationId} and request_id >= ${smallestUuidAt(startMs)}::uuid
      order by request_id desc limit ${sql.lit(ROWS_MAX + 1)}),
    charged as (
      select place < jsonb_array_length(attempts) as is_followed, (attempt ->> 'charged_tokens')::bigint as tokens,
        (attempt ->> 'charged_cost_micros')::bigint as spend
      from newest cross join lateral jsonb_array_elements(attempts) with ordinality as each (attempt, place)
      where (place < jsonb_array_length(attempts) or usage_source = 'none')
        and attempt ->> 'cause' is distinct from ${sql.lit(NOT_PREPARED)}
        and ${sql.join(attemptConditions(organizationId, counts), sql` and `)})
    select (select count(*) from newest)::int as seen, count(*)::int as requests,
      (count(*) filter (where is_followed and tokens is null))::int as unknown,
      coalesce(sum(tokens) filter (where is_followed), 0)::text as tokens,
      coalesce(sum(spend) filter (where is_followed), 0)::text as spend
    from charged`.execute(db);
  const [found] = rows;
  if (found === undefined || found.seen > ROWS_MAX) return unknownUse(Number.POSITIVE_INFINITY);
  const { requests, unknown } = found;
  return unknown > 0
    ? unknownUse(requests)
    : { requests, tokens: Number(found.tokens), spend: Number(found.spend) };
}

function unknownUse(requests: number): Amounts {
  return { requests, tokens: Number.POSITIVE_INFINITY, spend: Number.POSITIVE_INFINITY };
}

/** An attempt belongs to the endpoint that it was sent to; its row, to that of the last one. */
function attemptConditions(organizationId: string, counts: CountedRequests): RawBuilder<unknown>[] {
  const field = ATTEMPT_FIELDS[counts.scopeType];
  if (field === undefined) return conditionsOf(organizationId, counts);
  const conditions = conditionsOf(organizationId, { ...counts, scopeType: 'global', scopeId: null });
  if (field !== null) conditions.push(sql`attempt ->> ${sql.lit(field)} = ${counts.scopeId}`);
  return conditions;
}
