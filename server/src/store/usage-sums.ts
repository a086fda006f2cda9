import { type Kysely, sql } from 'kysely';
import type { LimitPolicy } from '../domain/snapshot.ts';
import { smallestUuidAt } from './ledger-partitions.ts';
import type { Database } from './schema.ts';

const SCOPE_COLUMNS = { provider: 'provider_id', endpoint: 'endpoint_id', lane: 'lane_id' } as const;

/**
 * What the ledger holds against a policy since the start of its window. A credential has no column of its own in the
 * ledger, so a window of that scope counts the requests of the whole organization: too much, never too little.
 */
export async function sumUsageSince(
  db: Kysely<Database>,
  organizationId: string,
  policy: LimitPolicy,
  startMs: number,
): Promise<number> {
  const column =
    policy.scopeType in SCOPE_COLUMNS ? SCOPE_COLUMNS[policy.scopeType as keyof typeof SCOPE_COLUMNS] : null;
  const scope = column === null ? sql`` : sql`and ${sql.ref(column)} = ${policy.scopeId}`;
  const { rows } = await sql<{ amount: string | number | null }>`
    select ${amountOf(policy)} as amount from requests
    where organization_id = ${organizationId} and request_id >= ${smallestUuidAt(startMs)}::uuid
      and usage_source <> 'none' ${scope}`.execute(db);
  return Number(rows[0]?.amount ?? 0);
}

function amountOf({ metric }: LimitPolicy) {
  if (metric === 'tokens') return sql`coalesce(sum(actual_input_tokens + actual_output_tokens), 0)`;
  return metric === 'spend' ? sql`coalesce(sum(actual_cost_micros), 0)` : sql`count(*)`;
}
