import { join } from 'node:path';
import { freePort, selfHostedEnvironment, startPostgres, startRedis } from '@relay/testbed';
import { type PinnedProcess, startPinned } from '../pinned-process.ts';
import { configureRelay, type RelaySetup } from './configure-relay.ts';
import { type Gateway, ROOT } from './gateway.ts';

export interface RelayOptions {
  /** The checkout it runs from; this one by default. */
  readonly root?: string;
  readonly nodeFlags?: readonly string[];
  readonly setup?: RelaySetup;
}

/** The product: stores of its own, configured through its own interface, serving in the role `inference`. */
export async function startRelay(
  upstreamUrl: string,
  { root = ROOT, nodeFlags = [], setup = { candidates: 1, limited: false } }: RelayOptions = {},
): Promise<Gateway & { redisUrl: string }> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  const removeStores = () => Promise.all([postgres.remove(), redis.remove()]);
  const { apiToken, adminToken, env } = selfHostedEnvironment({
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
  });
  try {
    const platform = await startRole('platform', { root, env, nodeFlags: [] });
    try {
      await configureRelay(`http://127.0.0.1:${platform.port}`, adminToken, upstreamUrl, setup);
    } finally {
      await platform.stop();
    }
    const inference = await startRole('inference', { root, env, nodeFlags });
    return {
      port: inference.port,
      pid: inference.pid,
      redisUrl: redis.url,
      headers: { authorization: `Bearer ${apiToken}` },
      async stop() {
        await inference.stop();
        await removeStores();
      },
    };
  } catch (error) {
    await removeStores();
    throw error;
  }
}

interface RoleOptions {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly nodeFlags: readonly string[];
}

async function startRole(
  role: 'platform' | 'inference',
  { root, env, nodeFlags }: RoleOptions,
): Promise<PinnedProcess> {
  const port = await freePort();
  return startPinned({
    name: `relay (${role})`,
    core: role === 'inference' ? 'gateway' : 'load',
    port,
    args: [...nodeFlags, join(root, 'cli/bin/relay.js'), 'serve', '--role', role],
    env: { ...env, RELAY_HTTP_ADDR: `127.0.0.1:${port}` },
  });
}
