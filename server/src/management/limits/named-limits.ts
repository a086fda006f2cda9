import type { LimitUsage, NamedLimit } from '@relay/contract';
import type { Kysely } from 'kysely';
import type { Limit } from '../../domain/limits/limit.ts';
import { type NamedPart, namesOfParts, scopePartOf } from '../../store/configuration/names-of.ts';
import type { Database } from '../../store/postgres/schema.ts';

/** With whose limits they are and what they apply to, by id and name. */
export async function namedLimits(
  db: Kysely<Database>,
  organizationId: string,
  limits: readonly { readonly usage: LimitUsage; readonly limit: Limit | undefined }[],
): Promise<NamedLimit[]> {
  const parts = limits.map(({ usage, limit }) => ({
    usage,
    subject: subjectOf(usage.policy_kind, limit),
    scope: scopePartOf(usage),
  }));
  const all = parts.flatMap(({ subject, scope }) => [subject, scope]);
  const names = await namesOfParts(db, organizationId, all);
  // What was deleted since the limit was read has no name.
  const nameOf = (part: NamedPart | null) => (part === null ? null : (names.get(part.id) ?? part.id));
  return parts.map(({ usage, subject, scope }) => ({
    ...usage,
    subject_id: subject?.id ?? null,
    subject_name: nameOf(subject),
    scope_name: nameOf(scope),
  }));
}

function subjectOf(kind: LimitUsage['policy_kind'], limit: Limit | undefined): NamedPart | null {
  const { userId = null, keyId = null, teamId = null } = limit?.applied.counts ?? {};
  const id = userId ?? keyId ?? teamId;
  return kind === 'resource' || id === null ? null : { kind, id };
}
