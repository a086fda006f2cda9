import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from '../../postgres/schema.ts';
import type { StoredBoundPolicy } from '../ledger-json.ts';

/** What a failed request says about others with the same cause. */
export interface FailedExample {
  readonly request_id: string;
  readonly status: number;
  readonly model: string | null;
  readonly user_id: string | null;
  readonly key_id: string | null;
  readonly team_id: string | null;
  readonly lane_id: string | null;
  readonly provider_id: string | null;
  readonly endpoint_id: string | null;
  readonly bound_policy: StoredBoundPolicy | null;
  /** The first candidate that lacked a price or a context window. */
  readonly lacking_endpoint_id: string | null;
}

/** These requests by ID, as far as the ledger still has them. */
export async function readExamples(
  db: Kysely<Database>,
  organizationId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, FailedExample>> {
  if (ids.length === 0) return new Map();
  const { rows } = await examplesQuery(organizationId, ids).execute(db);
  return new Map(rows.map((row) => [row.request_id, row]));
}

export function examplesQuery(organizationId: string, ids: readonly string[]): RawBuilder<FailedExample> {
  return sql`
    select request_id, status, model, user_id, key_id, team_id, lane_id, provider_id, endpoint_id, bound_policy,
      jsonb_path_query_first(trace,
        '$.candidates[*] ? (@.verdict == "unpriced" || @.verdict == "unbounded").endpoint_id') #>> '{}'
        as lacking_endpoint_id
    from requests where organization_id = ${organizationId} and request_id = any(${ids}::uuid[])
      and state = 'failed'`;
}
