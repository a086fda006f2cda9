import { join } from 'node:path';
import { freePort, selfHostedEnvironment, startPostgres, startRedis } from '@relay/testbed';
import { type PinnedProcess, startPinned } from '../pinned-process.ts';
import { configureRelay, type RelaySetup } from './configure-relay.ts';
import { type Gateway, ROOT } from './gateway.ts';

/** The product: stores of its own, configured through its own interface, serving in the role `inference`. */
export async function startRelay(
  upstreamUrl: string,
  nodeFlags: readonly string[],
  setup: RelaySetup = { candidates: 1, limited: false },
): Promise<Gateway & { redisUrl: string }> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  const removeStores = () => Promise.all([postgres.remove(), redis.remove()]);
  const { apiToken, adminToken, env } = selfHostedEnvironment({
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
  });
  try {
    const platform = await startRole('platform', env, []);
    try {
      await configureRelay(`http://127.0.0.1:${platform.port}`, adminToken, upstreamUrl, setup);
    } finally {
      await platform.stop();
    }
    const inference = await startRole('inference', env, nodeFlags);
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

async function startRole(
  role: 'platform' | 'inference',
  env: Readonly<Record<string, string>>,
  nodeFlags: readonly string[],
): Promise<PinnedProcess> {
  const port = await freePort();
  return startPinned({
    name: `relay (${role})`,
    core: role === 'inference' ? 'gateway' : 'load',
    port,
    args: [...nodeFlags, join(ROOT, 'cli/bin/relay.js'), 'serve', '--role', role],
    env: { ...env, RELAY_HTTP_ADDR: `127.0.0.1:${port}` },
  });
}
