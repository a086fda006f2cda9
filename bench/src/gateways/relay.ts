import { randomBytes } from 'node:crypto';
import { selfHostedEnvironment, startPostgres, startRedis } from '@relay/testbed';
import { configureRelay, createKey, type RelaySetup } from './configure-relay.ts';
import { type Gateway, ROOT } from './gateway.ts';
import { sourceEntry, startRole } from './role.ts';

export interface RelayOptions {
  /** The file that node runs; the sources of this checkout by default. */
  readonly entry?: string;
  /** For the gateway alone. */
  readonly nodeFlags?: readonly string[];
  readonly setup?: RelaySetup;
  /** Further settings of the gateway. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Adds to the configuration what the interface would take too long for. */
  readonly populate?: (stores: {
    readonly databaseUrl: string;
    readonly authSecret: string;
  }) => Promise<void>;
}

export interface RunningRelay extends Gateway {
  readonly redisUrl: string;
  /** Another process of the gateway on the same stores, which ends with the first. */
  startCopy(): Promise<Gateway>;
  /** Sets the limits of the bench. Copies that start later are under them. */
  setLimits(): Promise<void>;
}

/**
 * The product as it serves: every role as a process of its own, stores of its own, Redis with an append-only file, callers with a
 * User API key. The gateway has the measured core; management and worker share the other with the stores.
 */
export async function startRelay(
  upstreamUrl: string,
  {
    entry = sourceEntry(ROOT),
    nodeFlags = [],
    setup = { candidates: 1, limited: false },
    settings = {},
    populate,
  }: RelayOptions = {},
): Promise<RunningRelay> {
  const authSecret = randomBytes(32).toString('base64url');
  const running: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of running.splice(0).reverse()) await each();
  };
  try {
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis({ appendonly: true })]);
    running.push(() => Promise.all([postgres.remove(), redis.remove()]));
    const { adminToken, env } = selfHostedEnvironment({
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      RELAY_ACCOUNTS: 'true',
      RELAY_AUTH_SECRET: authSecret,
    });
    const platform = await startRole('platform', { entry, env, core: 'load' });
    running.push(() => platform.stop());
    const management = { url: `http://127.0.0.1:${platform.port}`, adminToken };
    const setLimits = await configureRelay(management, upstreamUrl, setup);
    const key = await createKey(management);
    await populate?.({ databaseUrl: postgres.url, authSecret });
    const worker = await startRole('worker', { entry, env, core: 'load' });
    running.push(() => worker.stop());
    const startGateway = async (): Promise<Gateway & { readonly redisUrl: string }> => {
      const inference = await startRole('inference', {
        entry,
        env: { ...env, ...settings },
        core: 'gateway',
        nodeFlags,
      });
      running.push(() => inference.stop());
      return { ...inference, redisUrl: redis.url, headers: { authorization: `Bearer ${key}` }, stop };
    };
    return { ...(await startGateway()), startCopy: startGateway, setLimits };
  } catch (error) {
    await stop();
    throw error;
  }
}
