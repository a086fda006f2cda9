import { type AuthMode, authStyles } from '../../domain/upstream-auth.ts';
import type { Sealer } from '../../kit/seal.ts';
import { secretBinding } from '../../store/configuration/secret-binding.ts';
import { invalidField } from './refusals.ts';

/** The location of a secret. Sealing binds to it, so a secret that is copied elsewhere cannot be opened. */
export type SecretPlace = Parameters<typeof secretBinding>[0];

const FIRST_SECRET_VERSION = 1;

/** The owner is the provider of a credential, or the guardrail itself. */
export function firstPlace(organizationId: string, ownerId: string): SecretPlace {
  return { organizationId, ownerId, secretVersion: FIRST_SECRET_VERSION };
}

/** Each new secret has its own version, so that restoring an older one does not work. */
export function nextPlace(place: SecretPlace): SecretPlace {
  return { ...place, secretVersion: place.secretVersion + 1 };
}

/** The columns that hold a secret. */
export function sealedSecret(sealer: Sealer, place: SecretPlace, secret: string) {
  return {
    sealed_secret: sealer.seal(secret, secretBinding(place)),
    key_id: sealer.keyId,
    secret_version: place.secretVersion,
  };
}

/** Rejects a secret that the auth mode cannot use. */
export function demandUsable(param: string, secret: string, authMode: AuthMode): void {
  const problem = authStyles[authMode].problemOf(secret);
  if (problem !== null) throw invalidField(param, `${param} ${problem}.`);
}
