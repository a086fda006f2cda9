import type { OrganizationSnapshot } from '../domain/snapshot.ts';
import {
  type AuthenticateSession,
  type Authenticators,
  createAuthenticators,
} from '../edge/authenticators.ts';
import { createTokenAuthenticators } from '../edge/deployment-tokens.ts';
import { createUserKeys } from '../edge/user-keys.ts';
import { Secret } from '../kit/secret.ts';
import { createFreshness } from '../store/keys/freshness.ts';
import { createKeyDirectory } from '../store/keys/key-directory.ts';
import { createLastUses } from '../store/keys/last-uses.ts';
import type { Configuration } from './open-configuration.ts';
import type { Stores } from './open-stores.ts';
import type { Runtime } from './runtime.ts';

type SnapshotOf = (organizationId: string) => Promise<OrganizationSnapshot>;

export interface AuthenticatorParts {
  readonly runtime: Runtime;
  readonly stores: Pick<Stores, 'database'>;
  readonly configuration: Configuration;
  /** Creates the authenticator of browser sessions, given how to read an organization's current snapshot. */
  readonly session: (snapshotOf: SnapshotOf) => AuthenticateSession;
}

export interface RunningAuthenticators extends Authenticators {
  /** API keys in memory. */
  keysHeld(): number;
  stop(): Promise<void>;
}

/** Creates the authenticators that the deployment's mode needs, with the key cache behind them. */
export function startAuthenticators(parts: AuthenticatorParts): RunningAuthenticators {
  const { environment, clock, log, secrets } = parts.runtime;
  const { database } = parts.stores;
  const { owner, fences, snapshots } = parts.configuration;
  const tokens =
    owner !== null
      ? createTokenAuthenticators({
          apiToken: {
            value: new Secret(environment.RELAY_API_TOKEN ?? ''),
            earlier: environment.RELAY_API_TOKEN_PREVIOUS.map((token) => new Secret(token)),
            onEarlier: () => secrets.noteEarlierUse('RELAY_API_TOKEN'),
          },
          adminToken: {
            value: new Secret(environment.RELAY_ADMIN_TOKEN ?? ''),
            earlier: environment.RELAY_ADMIN_TOKEN_PREVIOUS.map((token) => new Secret(token)),
            onEarlier: () => secrets.noteEarlierUse('RELAY_ADMIN_TOKEN'),
          },
          ...owner,
        })
      : null;
  const directory = createKeyDirectory({
    database,
    snapshots,
    log,
    keysMax: environment.RELAY_KEY_CACHE_MAX,
  });
  const uses = createLastUses({ table: 'api_keys', db: database.db, clock, log });
  const freshen = createFreshness({ fences, snapshots });
  const userKey = createUserKeys({
    directory,
    freshen,
    uses,
    peppers: secrets.keyPeppers.accepted,
    clock,
    onlyUserId: environment.RELAY_ACCOUNTS ? null : (owner?.userId ?? null),
  });
  const session = parts.session(async (organizationId) => (await freshen(organizationId)).snapshot);
  uses.start();
  return {
    ...createAuthenticators({ tokens, userKey, session }),
    keysHeld: directory.size,
    async stop() {
      directory.stop();
      await uses.stop();
    },
  };
}
