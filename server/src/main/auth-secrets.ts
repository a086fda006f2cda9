import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { Environment } from './environment.ts';

type PepperSources = Pick<
  Environment,
  'RELAY_AUTH_SECRET' | 'RELAY_MASTER_KEY' | 'RELAY_MASTER_KEY_PREVIOUS'
>;

/**
 * The secrets under which digests of API keys may be stored. The first one is for new keys; the others keep keys valid that
 * were created before `RELAY_AUTH_SECRET` was set or the master key was replaced. `relay start` keeps a secret of its own.
 */
export function keyPeppersFrom(
  environment: PepperSources,
  keptAuthSecret: string | null = null,
): readonly [KeyObject, ...KeyObject[]] {
  const earlier = [
    ...(keptAuthSecret === null ? [] : [keptAuthSecret]),
    ...environment.RELAY_MASTER_KEY_PREVIOUS,
  ];
  const ofMasterKey = pepperFrom(environment.RELAY_MASTER_KEY);
  if (environment.RELAY_AUTH_SECRET === null) return [ofMasterKey, ...earlier.map(pepperFrom)];
  return [pepperFrom(environment.RELAY_AUTH_SECRET), ofMasterKey, ...earlier.map(pepperFrom)];
}

/** Signs browser sessions. */
export function sessionSecretFrom(secret: string): KeyObject {
  return derive(secret, 'relay browser sessions');
}

function pepperFrom(secret: string | Buffer): KeyObject {
  return derive(secret, 'relay key pepper');
}

/** Derives independent secrets for each purpose from one that the operator keeps. */
function derive(secret: string | Buffer, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', purpose, 32)));
}
