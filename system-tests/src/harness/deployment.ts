import { randomBytes } from 'node:crypto';
import { type ProviderSim, type ProviderSimOptions, startProviderSim } from '@relay/provider-sim';
import { type PrivatePostgres, type PrivateRedis, startPostgres, startRedis } from '@relay/testbed';
import { type AdminClient, adminClient } from './admin-client.ts';
import { type RelayProcess, startRelay } from './relay-process.ts';

/** A whole deployment of one's own: private stores, a simulated provider, and server processes. */
export interface Deployment {
  readonly postgres: PrivatePostgres;
  readonly redis: PrivateRedis;
  readonly provider: ProviderSim;
  readonly processes: readonly RelayProcess[];
  /** The first process. */
  readonly url: string;
  readonly apiToken: string;
  readonly adminToken: string;
  readonly admin: AdminClient;
  readonly env: Readonly<Record<string, string>>;
  startProcess(more?: {
    env?: Record<string, string>;
    role?: string;
    nodeFlags?: string[];
  }): Promise<RelayProcess>;
  stop(): Promise<void>;
}

export interface DeploymentOptions {
  readonly processes?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeFlags?: readonly string[];
  readonly provider?: ProviderSimOptions;
}

export async function startDeployment(options: DeploymentOptions = {}): Promise<Deployment> {
  const [postgres, redis, provider] = await Promise.all([
    startPostgres(),
    startRedis(),
    startProviderSim(options.provider),
  ]);
  const apiToken = randomBytes(24).toString('base64url');
  const adminToken = randomBytes(24).toString('base64url');
  const env = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    RELAY_MODE: 'self_hosted',
    RELAY_API_TOKEN: apiToken,
    RELAY_ADMIN_TOKEN: adminToken,
    RELAY_MASTER_KEY: randomBytes(32).toString('base64'),
    RELAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.1/32',
    ...options.env,
  };
  const processes: RelayProcess[] = [];
  const startProcess: Deployment['startProcess'] = async (more = {}) => {
    const started = await startRelay({
      env: { ...env, ...more.env },
      nodeFlags: more.nodeFlags ?? options.nodeFlags ?? [],
      ...(more.role === undefined ? {} : { role: more.role }),
    });
    processes.push(started);
    return started;
  };
  async function stop(): Promise<void> {
    await Promise.all(processes.map((each) => each.stop()));
    await Promise.all([postgres.remove(), redis.remove(), provider.close()]);
  }
  const starting = Array.from({ length: options.processes ?? 1 }, () => startProcess());
  const failed = (await Promise.allSettled(starting)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') {
    // What is left running would keep the suite from ending.
    await stop();
    throw failed.reason;
  }
  const url = processes[0]?.url ?? '';
  return {
    postgres,
    redis,
    provider,
    processes,
    url,
    apiToken,
    adminToken,
    admin: adminClient(url, adminToken),
    env,
    startProcess,
    stop,
  };
}
