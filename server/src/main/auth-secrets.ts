import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** Under which digests of API keys are stored. */
export function keyPepperFrom(secret: string | Buffer): KeyObject {
  return derive(secret, 'relay key pepper');
}

/** Signs browser sessions. */
export function sessionSecretFrom(secret: string): KeyObject {
  return derive(secret, 'relay browser sessions');
}

/** Derives independent secrets for each purpose from one that the operator keeps. */
function derive(secret: string | Buffer, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', purpose, 32)));
}
