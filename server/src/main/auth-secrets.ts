import { hkdfSync } from 'node:crypto';

export interface AuthSecrets {
  /** Keys the digests of User API keys. */
  readonly keyPepper: Buffer;
  /** Signs browser sessions. */
  readonly sessionSecret: Buffer;
}

/** Derives two independent secrets from the one that the operator keeps. */
export function authSecretsFrom(secret: string): AuthSecrets {
  return {
    keyPepper: derive(secret, 'relay key pepper'),
    sessionSecret: derive(secret, 'relay browser sessions'),
  };
}

function derive(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
}
