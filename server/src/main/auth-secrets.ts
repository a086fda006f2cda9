import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

export interface AuthSecrets {
  /** Keys the digests of User API keys. */
  readonly keyPepper: KeyObject;
  /** Signs browser sessions. */
  readonly sessionSecret: KeyObject;
}

/** Derives two independent secrets from the one that the operator keeps. */
export function authSecretsFrom(secret: string): AuthSecrets {
  return {
    keyPepper: derive(secret, 'relay key pepper'),
    sessionSecret: derive(secret, 'relay browser sessions'),
  };
}

function derive(secret: string, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', purpose, 32)));
}
