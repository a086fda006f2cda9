import { createSecretKey, randomBytes } from 'node:crypto';
import type { SessionSecrets } from './session-secrets.ts';

/** For tests: one random secret. */
export function sessionSecrets(): SessionSecrets {
  const current = createSecretKey(randomBytes(32));
  return { current, accepted: [current] };
}
