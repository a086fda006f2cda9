import { hkdfSync } from 'node:crypto';

export interface AuthSecrets {
  /** What the digests of User API keys are made with. */
  readonly keyPepper: Buffer;
  /** What browser sessions are signed with. */
  readonly sessionSecret: Buffer;
}

/** One secret for the operator to keep, two that do not tell of one another for the server to use. */
export function authSecretsFrom(secret: string): AuthSecrets {
  return {
    keyPepper: derive(secret, 'relay key pepper'),
    sessionSecret: derive(secret, 'relay browser sessions'),
  };
}

function derive(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
}
