import { type Kysely, sql } from 'kysely';
import type { Database } from '../postgres/schema.ts';

const NAMED = {
  lane: 'lanes',
  endpoint: 'endpoints',
  provider: 'providers',
  credential: 'credentials',
  api_key: 'api_keys',
  user: 'users',
  team: 'teams',
  guardrail: 'guardrails',
} as const;

export type NamedKind = keyof typeof NAMED;

/** Names by id. A deleted resource has none; a model is named by itself. */
export async function namesOf(
  db: Kysely<Database>,
  organizationId: string,
  kind: NamedKind | 'model',
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (kind === 'model' || ids.length === 0) return new Map();
  const own =
    kind === 'user'
      ? sql`id in (select user_id from organization_members where organization_id = ${organizationId})`
      : sql`organization_id = ${organizationId}`;
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from ${sql.table(NAMED[kind])} where ${own} and id = any(${ids}::uuid[])`.execute(db);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
