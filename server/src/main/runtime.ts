import serverPackage from '../../package.json' with { type: 'json' };
import { createFollowingClock, type FollowingClock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { createSealer, type RotatingSealer } from '../kit/seal.ts';
import type { Deployment } from '../management/resources/deps.ts';
import type { Environment } from './environment.ts';
import type { RoleName } from './roles.ts';
import { createOwnSecrets, type OwnSecrets } from './secrets/own-secrets.ts';

/** What every part of the process shares. */
export interface Runtime {
  readonly environment: Environment;
  readonly roleName: RoleName;
  readonly deployment: Deployment;
  /** Where clients reach this deployment, without a trailing slash. */
  readonly publicUrl: string;
  readonly clock: FollowingClock;
  readonly sealer: RotatingSealer;
  readonly secrets: OwnSecrets;
  readonly log: Log;
  /** True from the stop signal on: the process is not ready any more, and still serves what comes. */
  readonly leaving: () => boolean;
  startLeaving(): void;
  /** True once the process refuses new requests, and finishes open ones. */
  readonly draining: () => boolean;
  startDraining(): void;
}

export interface RuntimeOptions {
  readonly isEmbedded: boolean;
  /** The secret of the data directory, in whose place the environment may have another one. */
  readonly keptAuthSecret: string | null;
}

export function createRuntime(
  environment: Environment,
  roleName: RoleName,
  log: Log,
  options: RuntimeOptions,
): Runtime {
  const clock = createFollowingClock();
  const sealer = sealerOf(environment);
  let leaving = false;
  let draining = false;
  return {
    environment,
    roleName,
    deployment: {
      mode: environment.RELAY_MODE,
      accounts: environment.RELAY_MODE === 'hosted' || environment.RELAY_ACCOUNTS,
      version: serverPackage.version,
    },
    publicUrl: publicUrlOf(environment),
    clock,
    sealer,
    secrets: createOwnSecrets({ environment, roleName, sealer, nowMs: clock.nowMs, ...options }),
    log,
    leaving: () => leaving,
    startLeaving() {
      leaving = true;
    },
    draining: () => draining,
    startDraining() {
      draining = true;
    },
  };
}

export function sealerOf(
  environment: Pick<Environment, 'RELAY_MASTER_KEY' | 'RELAY_MASTER_KEY_PREVIOUS'>,
): RotatingSealer {
  return createSealer({
    primary: environment.RELAY_MASTER_KEY,
    previous: environment.RELAY_MASTER_KEY_PREVIOUS,
  });
}

function publicUrlOf(environment: Environment): string {
  const { host, port } = environment.RELAY_HTTP_ADDR;
  const url = environment.RELAY_PUBLIC_URL ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return url.replace(/\/+$/, '');
}
