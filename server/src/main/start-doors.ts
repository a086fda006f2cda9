import type { IncomingMessage } from 'node:http';
import type { Caller } from '../domain/caller.ts';
import type { OrganizationSnapshot } from '../domain/snapshot.ts';
import { createTokenDoors } from '../edge/deployment-tokens.ts';
import { createDoors, type Doors } from '../edge/doors.ts';
import { createFreshness } from '../edge/freshness.ts';
import { createUserKeys } from '../edge/user-keys.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { Secret } from '../kit/secret.ts';
import type { Snapshots } from '../store/configuration/snapshots.ts';
import type { Fences } from '../store/keys/fences.ts';
import { createKeyDirectory } from '../store/keys/key-directory.ts';
import { createKeyUses } from '../store/keys/key-uses.ts';
import type { DatabaseHandle } from '../store/postgres/postgres.ts';
import type { Environment } from './environment.ts';

type Freshness = (organizationId: string) => Promise<OrganizationSnapshot>;

export interface DoorParts {
  readonly environment: Environment;
  /** Self-hosted: the implicit organization and its owner, for whom the tokens act. */
  readonly owner: { readonly organizationId: string; readonly userId: string } | null;
  readonly database: DatabaseHandle;
  readonly fences: Fences;
  readonly snapshots: Snapshots;
  readonly clock: Clock;
  readonly log: Log;
  readonly keyPepper: Buffer;
  /** Who a browser session acts for, given how to ask for an organization as it is now. */
  readonly session: ((freshness: Freshness) => (request: IncomingMessage) => Promise<Caller>) | null;
}

export interface RunningDoors extends Doors {
  /** User API keys in memory; null in a deployment without any. */
  keysHeld(): number | null;
  stop(): Promise<void>;
}

/** The doors of this deployment's mode, and what lives as long as they are open. */
export function startDoors(parts: DoorParts): RunningDoors {
  const { environment, database, fences, snapshots, clock, log } = parts;
  const tokens =
    parts.owner !== null
      ? createTokenDoors({
          apiToken: new Secret(environment.RELAY_API_TOKEN ?? ''),
          adminToken: new Secret(environment.RELAY_ADMIN_TOKEN ?? ''),
          ...parts.owner,
        })
      : null;
  if (tokens !== null && !environment.RELAY_ACCOUNTS) {
    const session = parts.session?.(snapshots.load) ?? null;
    return {
      ...createDoors({ tokens, userKey: null, session }),
      keysHeld: () => null,
      stop: () => Promise.resolve(),
    };
  }
  const directory = createKeyDirectory({
    database,
    snapshots,
    log,
    keysMax: environment.RELAY_KEY_CACHE_MAX,
  });
  const uses = createKeyUses({ db: database.db, clock, log });
  const freshen = createFreshness({ fences, snapshots });
  const userKey = createUserKeys({ directory, freshen, uses, pepper: parts.keyPepper, clock });
  const session = parts.session?.(async (organizationId) => (await freshen(organizationId)).snapshot) ?? null;
  uses.start();
  return {
    ...createDoors({ tokens, userKey, session }),
    keysHeld: directory.size,
    async stop() {
      directory.stop();
      await uses.stop();
    },
  };
}
