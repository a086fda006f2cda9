import type { Credential } from '../snapshot.ts';

/**
 * The credential that requests are sent with, out of those of one provider: the one the endpoint names, otherwise the oldest
 * enabled one. A named credential that is disabled or belongs to another provider is not replaced by the default.
 */
export function chooseCredential<T extends Pick<Credential, 'id' | 'enabled' | 'createdAtMs'>>(
  ofProvider: readonly T[],
  namedId: string | null,
): T | null {
  let chosen: T | null = null;
  for (const credential of ofProvider) {
    if (!credential.enabled || (namedId !== null && credential.id !== namedId)) continue;
    if (chosen === null || isOlder(credential, chosen)) chosen = credential;
  }
  return chosen;
}

function isOlder(
  a: Pick<Credential, 'id' | 'createdAtMs'>,
  b: Pick<Credential, 'id' | 'createdAtMs'>,
): boolean {
  return a.createdAtMs === b.createdAtMs ? a.id < b.id : a.createdAtMs < b.createdAtMs;
}
