import serverPackage from '../../package.json' with { type: 'json' };
import { type Clock, systemClock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import type { Deployment } from '../management/resources/deps.ts';
import type { Environment } from './environment.ts';
import type { RoleName } from './roles.ts';

/** What every part of the process shares. */
export interface Runtime {
  readonly environment: Environment;
  readonly roleName: RoleName;
  readonly deployment: Deployment;
  /** Where clients reach this deployment, without a trailing slash. */
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  /** True while the process drains. */
  readonly draining: () => boolean;
  startDraining(): void;
}

export function createRuntime(environment: Environment, roleName: RoleName, log: Log): Runtime {
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
    clock: systemClock,
    log,
    draining: () => draining,
    startDraining() {
      draining = true;
    },
  };
}

function publicUrlOf(environment: Environment): string {
  const { host, port } = environment.RELAY_HTTP_ADDR;
  const url = environment.RELAY_PUBLIC_URL ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return url.replace(/\/+$/, '');
}
