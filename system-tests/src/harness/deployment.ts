import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ProviderSim, type ProviderSimOptions, startProviderSim } from '@relay/provider-sim';
import {
  freePort,
  type PrivatePostgres,
  type PrivateRedis,
  selfHostedEnvironment,
  startPostgres,
  startRedis,
} from '@relay/testbed';
import { type AdminClient, adminClient } from './admin-client.ts';
import { everywhere } from './everywhere.ts';
import { type RelayProcess, startRelay } from './relay-process.ts';
import { stores as storesOfThisRun } from './stores.ts';

/** A private deployment: stores, a simulated provider, and server processes. */
export interface Deployment {
  /** Throw where the stores are embedded. */
  readonly postgres: PrivatePostgres;
  readonly redis: PrivateRedis;
  /** Where an embedded deployment keeps everything; null where the stores are servers. */
  readonly dataDirectory: string | null;
  readonly provider: ProviderSim;
  readonly processes: readonly RelayProcess[];
  /** The first process. */
  readonly url: string;
  readonly apiToken: string;
  readonly adminToken: string;
  readonly admin: AdminClient;
  readonly env: Readonly<Record<string, string>>;
  /** Starts another process on the same stores. An embedded one has its own stores, and shares only the tokens. */
  startProcess(more?: MoreProcess): Promise<RelayProcess>;
  /** Runs another process during the work. An embedded deployment is one process, which stops meanwhile. */
  beside<T>(more: MoreProcess, work: (process: RelayProcess) => Promise<T>): Promise<T>;
  /** Resolves when every process has applied the configuration as it is now. An embedded one has when its write is answered. */
  everywhere(): Promise<void>;
  /** Kills the first process and starts another one at the same address. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface MoreProcess {
  readonly env?: Record<string, string>;
  readonly role?: string;
  readonly nodeFlags?: string[];
}

export interface DeploymentOptions {
  /** An embedded deployment always has one. */
  readonly processes?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeFlags?: readonly string[];
  readonly provider?: ProviderSimOptions;
  /** By default as the run's settings say. */
  readonly stores?: 'servers' | 'embedded';
}

/** What differs with the stores. */
interface StorePart {
  readonly postgres: PrivatePostgres | null;
  readonly redis: PrivateRedis | null;
  readonly dataDirectory: string | null;
  readonly env: Readonly<Record<string, string>>;
  remove(): Promise<unknown>;
}

export async function startDeployment(options: DeploymentOptions = {}): Promise<Deployment> {
  const isEmbedded = (options.stores ?? storesOfThisRun) === 'embedded';
  const [stores, provider] = await Promise.all([
    isEmbedded ? makeDirectory() : startServers(),
    startProviderSim(options.provider),
  ]);
  const { apiToken, adminToken, env: ownEnv } = selfHostedEnvironment(stores.env);
  const env = { ...ownEnv, ...options.env };
  const processes: RelayProcess[] = [];
  const { dataDirectory } = stores;
  // The single process of an embedded deployment keeps its address over restarts.
  const port = dataDirectory === null ? null : await freePort();
  const start = (more: MoreProcess, isOther = false): Promise<RelayProcess> =>
    startRelay({
      env: { ...env, ...more.env },
      nodeFlags: more.nodeFlags ?? options.nodeFlags ?? [],
      ...(more.role === undefined ? {} : { role: more.role }),
      ...(dataDirectory === null
        ? {}
        : { dataDirectory: `${dataDirectory}${isOther ? processes.length : ''}` }),
      ...(port === null || isOther ? {} : { port }),
    });
  async function startProcess(more: MoreProcess = {}): Promise<RelayProcess> {
    const started = await start(more, processes.length > 0);
    processes.push(started);
    return started;
  }
  async function stop(): Promise<void> {
    await Promise.all(processes.map((each) => each.stop()));
    await Promise.all([stores.remove(), provider.close()]);
  }
  const count = isEmbedded ? 1 : (options.processes ?? 1);
  const starting = Array.from({ length: count }, () => startProcess());
  const failed = (await Promise.allSettled(starting)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') {
    // A process left running would keep the suite from ending.
    await stop();
    throw failed.reason;
  }
  const url = processes[0]?.url ?? '';
  return {
    get postgres() {
      return stores.postgres ?? noServer();
    },
    get redis() {
      return stores.redis ?? noServer();
    },
    dataDirectory,
    provider,
    processes,
    url,
    apiToken,
    adminToken,
    admin: adminClient(url, adminToken),
    env,
    startProcess,
    async beside(more, work) {
      if (dataDirectory !== null) await processes[0]?.stop();
      const other = await start(more);
      try {
        return await work(other);
      } finally {
        await other.stop();
        if (dataDirectory !== null) processes[0] = await start({});
      }
    },
    async everywhere() {
      if (stores.postgres !== null) await everywhere(stores.postgres.url, processes);
    },
    async restart() {
      await processes[0]?.kill();
      processes[0] = await startRelay({
        env,
        nodeFlags: options.nodeFlags ?? [],
        port: Number(new URL(url).port),
        ...(dataDirectory === null ? {} : { dataDirectory }),
      });
    },
    stop,
  };
}

async function startServers(): Promise<StorePart> {
  const [postgres, redis] = await Promise.all([startPostgres({ migrated: true }), startRedis()]);
  return {
    postgres,
    redis,
    dataDirectory: null,
    env: { DATABASE_URL: postgres.url, REDIS_URL: redis.url },
    remove: () => Promise.all([postgres.remove(), redis.remove()]),
  };
}

async function makeDirectory(): Promise<StorePart> {
  const parent = mkdtempSync(join(tmpdir(), 'relay-embedded-'));
  const dataDirectory = join(parent, 'data');
  return {
    postgres: null,
    redis: null,
    dataDirectory,
    env: {},
    remove: async () => rmSync(parent, { recursive: true, force: true }),
  };
}

function noServer(): never {
  throw new Error('the stores of this deployment are embedded: there is no server to speak to');
}
