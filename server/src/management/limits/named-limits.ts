import type { LimitUsage, NamedLimit } from '@relay/contract';
import type { Kysely } from 'kysely';
import { type NamedPart, namesOfParts, scopePartOf } from '../../store/configuration/names-of.ts';
import type { Database } from '../../store/postgres/schema.ts';

/** With whose limits they are and what they apply to, by id and name. */
export async function namedLimits(
  db: Kysely<Database>,
  organizationId: string,
  usages: readonly LimitUsage[],
): Promise<NamedLimit[]> {
  const parts = usages.map((usage) => {
    const { policy_kind: kind, subject_id: id } = usage;
    const subject = kind === 'resource' || id === null ? null : { kind, id };
    return { usage, subject, scope: scopePartOf(usage) };
  });
  const all = parts.flatMap(({ subject, scope }) => [subject, scope]);
  const names = await namesOfParts(db, organizationId, all);
  // What was deleted since the limit was read has no name.
  const nameOf = (part: NamedPart | null) => (part === null ? null : (names.get(part.id) ?? part.id));
  return parts.map(({ usage, subject, scope }) => ({
    ...usage,
    subject_name: nameOf(subject),
    scope_name: nameOf(scope),
  }));
}
