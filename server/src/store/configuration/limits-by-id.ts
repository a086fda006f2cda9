import { type Kysely, sql } from 'kysely';
import type { PolicyDescription } from '../../domain/limits/limit.ts';
import { POLICY_TABLES } from '../postgres/policy-tables.ts';
import type { Database } from '../postgres/schema.ts';

/** A limit as it is configured now, enabled or not. */
export interface ConfiguredLimit {
  readonly limitValue: number;
  /** The member, key or team whose limit it is; null for a shared limit. */
  readonly subjectId: string | null;
}

/** The limits of one kind with these ids. A deleted one is left out. */
export async function limitsById(
  db: Kysely<Database>,
  organizationId: string,
  kind: PolicyDescription['policy_kind'],
  ids: readonly string[],
): Promise<ReadonlyMap<string, ConfiguredLimit>> {
  const from = POLICY_TABLES.find((each) => each.kind === kind);
  if (from === undefined || ids.length === 0) return new Map();
  const subject = from.subject === null ? sql`null::uuid` : sql.ref(from.subject);
  const { rows } = await sql<{ id: string; limit_value: number; subject_id: string | null }>`
    select id, limit_value, ${subject} as subject_id from ${sql.table(from.table)}
    where organization_id = ${organizationId} and id = any(${ids}::uuid[])`.execute(db);
  return new Map(
    rows.map(({ id, limit_value: limitValue, subject_id: subjectId }) => [id, { limitValue, subjectId }]),
  );
}
