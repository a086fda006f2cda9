import { type Kysely, sql } from 'kysely';
import type { PolicyDescription } from '../../domain/limits/limit.ts';
import { everNamed } from '../postgres/ever-named.ts';
import type { Database } from '../postgres/schema.ts';

const NAMED = {
  lane: 'lanes',
  endpoint: 'endpoints',
  provider: 'providers',
  credential: 'credentials',
  team: 'teams',
  guardrail: 'guardrails',
} as const;

export type NamedKind = keyof typeof NAMED | 'api_key' | 'user';

/** Names by id; what was deleted has the name that it had. A model is named by itself. */
export async function namesOf(
  db: Kysely<Database>,
  organizationId: string,
  kind: NamedKind | 'model',
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (kind === 'model' || ids.length === 0) return new Map();
  const named = kind === 'user' ? namedPeople(organizationId) : namedResources(kind, organizationId);
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from (${named}) as named where id = any(${ids}::uuid[])`.execute(db);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

function namedResources(kind: Exclude<NamedKind, 'user'>, organizationId: string) {
  // A key is never deleted.
  const table = kind === 'api_key' ? sql.table('api_keys') : everNamed(NAMED[kind]);
  return sql`select id, name from ${table} as resource where organization_id = ${organizationId}`;
}

/** Members, and those who were removed under the name that they had. */
function namedPeople(organizationId: string) {
  return sql`
    select former.user_id as id, coalesce(users.name, former.name) as name
    from former_members as former
    left join organization_members as member using (organization_id, user_id)
    left join users on users.id = member.user_id
    where organization_id = ${organizationId}
    union
    select users.id, users.name from organization_members as member join users on users.id = member.user_id
    where member.organization_id = ${organizationId}`;
}

/** A resource that something names by its id. */
export interface NamedPart {
  readonly kind: NamedKind;
  readonly id: string;
}

/** The names of resources of any kinds, by id, with one query for each kind. */
export async function namesOfParts(
  db: Kysely<Database>,
  organizationId: string,
  parts: readonly (NamedPart | null)[],
): Promise<ReadonlyMap<string, string>> {
  const byKind = Map.groupBy(
    parts.filter((part) => part !== null),
    ({ kind }) => kind,
  );
  const names = new Map<string, string>();
  for (const [kind, of] of byKind) {
    const found = await namesOf(db, organizationId, kind, [...new Set(of.map(({ id }) => id))]);
    for (const [id, name] of found) names.set(id, name);
  }
  return names;
}

/** What a limit applies to; null for the whole organization. A limit on a model has the id of its endpoint. */
export function scopePartOf(limit: {
  readonly scope_type: PolicyDescription['scope_type'];
  readonly scope_id: string | null;
}): NamedPart | null {
  const { scope_type: type, scope_id: id } = limit;
  if (type === 'global' || id === null) return null;
  return { kind: type === 'model' ? 'endpoint' : type, id };
}
