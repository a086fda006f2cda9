import type { ConfigCredential, ConfigGuardrail } from '@relay/contract';
import { authStyles } from '../../domain/upstream-auth.ts';
import type { Unset } from './section.ts';

/**
 * A credential entered by hand has no reference. An export derives one from its names, so that the file is
 * complete and shows which secrets an apply needs. If two names give the same variable, the later one gets a
 * number, because two credentials must not share a secret by accident.
 */
export function withSecretRefs(
  entries: readonly Unset<ConfigCredential>[],
): readonly Required<ConfigCredential>[] {
  return withRefs(
    entries,
    ({ provider, name }) => `${provider}_${name}`,
  ) as readonly Required<ConfigCredential>[];
}

/** The same for guardrails that send a secret. */
export function withGuardrailRefs(
  entries: readonly Unset<ConfigGuardrail>[],
): readonly Required<ConfigGuardrail>[] {
  const namesOf = ({ slug, auth_mode }: Unset<ConfigGuardrail>) =>
    auth_mode !== null && authStyles[auth_mode].needsSecret ? `guardrail_${slug}` : null;
  return withRefs(entries, namesOf) as readonly Required<ConfigGuardrail>[];
}

/** `namesOf` returns null for an entry that needs no reference. */
function withRefs<Item extends { readonly secret_ref: string | null }>(
  entries: readonly Item[],
  namesOf: (entry: Item) => string | null,
): readonly Item[] {
  const taken = new Set(entries.map(({ secret_ref }) => secret_ref));
  return entries.map((entry) => {
    const names = namesOf(entry);
    const ref = entry.secret_ref ?? (names === null ? null : freeRef(names, taken));
    taken.add(ref);
    return { ...entry, secret_ref: ref };
  });
}

function freeRef(names: string, taken: ReadonlySet<string | null>): string {
  const stem = `env:RELAY_SECRET_${names.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`.slice(0, 200);
  if (!taken.has(stem)) return stem;
  let number = 2;
  while (taken.has(`${stem}_${number}`)) number += 1;
  return `${stem}_${number}`;
}
