import type { Kysely } from 'kysely';
import type { AlertEvent } from '../domain/alert-message.ts';
import { shownName } from '../mail/letters.ts';
import { type NamedKind, namesOf } from '../store/configuration/names-of.ts';
import type { Database } from '../store/postgres/schema.ts';

/** Whose limit it is and what it applies to, by name: ' for the API key “ci” on the lane “fast”'. Empty for one on the whole organization. */
export async function limitSubject(
  db: Kysely<Database>,
  { organizationId, policy }: Pick<AlertEvent, 'organizationId' | 'policy'>,
): Promise<string> {
  const { policy_kind, subject_id, scope_type, scope_id } = policy;
  const named = async (kind: NamedKind, id: string | null) => {
    const names = await namesOf(db, organizationId, kind, id === null ? [] : [id]);
    const name = shownName(names.get(id ?? '') ?? '', '');
    return name === '' ? `${ARTICLES[kind] ?? 'a'} ${NOUNS[kind]}` : `the ${NOUNS[kind]} “${name}”`;
  };
  const owner = policy_kind === 'resource' ? '' : ` for ${await named(policy_kind, subject_id)}`;
  const target = scope_type === 'model' ? 'endpoint' : scope_type;
  return target === 'global' ? owner : `${owner} on ${await named(target, scope_id)}`;
}

const NOUNS: Readonly<Record<NamedKind, string>> = {
  lane: 'lane',
  endpoint: 'endpoint',
  provider: 'provider',
  credential: 'credential',
  api_key: 'API key',
  user: 'member',
  team: 'team',
  guardrail: 'guardrail',
};

const ARTICLES: Readonly<Partial<Record<NamedKind, string>>> = { api_key: 'an', endpoint: 'an' };
