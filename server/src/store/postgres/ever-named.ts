import { type RawBuilder, sql } from 'kysely';

type Named = 'providers' | 'endpoints' | 'lanes' | 'teams' | 'credentials' | 'guardrails';

/** Rows with the ID and name of these resources, and of deleted ones under the name that they had, to join history with. */
export function everNamed(table: Named): RawBuilder<unknown> {
  const model = table === 'endpoints' ? sql`upstream_model` : sql`null`;
  return sql`(
    select organization_id, id, name, ${model} as upstream_model from ${sql.table(table)}
    union all select organization_id, id, name, upstream_model from former_resources)`;
}
