import { type Kysely, sql } from 'kysely';
import type { Dimension } from '../../store/ledger/rollups/read-series.ts';
import type { Database } from '../../store/postgres/schema.ts';

const NAMED = {
  lane: 'lanes',
  endpoint: 'endpoints',
  provider: 'providers',
  api_key: 'api_keys',
  user: 'users',
  team: 'teams',
  guardrail: 'guardrails',
} as const;

/** Names by id. A deleted resource has none. */
export async function namesOf(
  db: Kysely<Database>,
  organizationId: string,
  dimension: Dimension | 'team' | 'guardrail',
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
