import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allScopes } from '@relay/contract';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { type ProviderLog, startProviderLog } from '../chaos/provider-log.ts';
import type { Target } from '../chaos/world.ts';
import { openAccounts } from '../harness/accounts.ts';
import { adminClient, createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';

/** A deployment whose stores can be taken away, with something to ask for that has limits and something that has none. */
export interface Site {
  readonly deployment: Deployment;
  /** Keeps what it holds when it is stopped. */
  readonly redis: PrivateRedis;
  readonly provider: ProviderLog;
  /** A lane with limits, asked for with the deployment's token. */
  readonly limited: Target;
  /** Lanes without: of the same organization, and of another that is asked for with a key. */
  readonly unlimited: readonly Target[];
  /** A directory that is gone afterwards. */
  readonly directory: string;
  stop(): Promise<void>;
}

const PROCESSES = 2;

export async function startSite(): Promise<Site> {
  const directory = mkdtempSync(join(tmpdir(), 'relay-outage-'));
  const authSecret = randomBytes(32).toString('base64url');
  const [redis, provider] = await Promise.all([startRedis({ appendonly: true }), startProviderLog()]);
  const deployment = await startDeployment({
    processes: PROCESSES,
    env: {
      REDIS_URL: redis.url,
      RELAY_ACCOUNTS: 'true',
      RELAY_AUTH_SECRET: authSecret,
      RELAY_SPOOL_DIR: join(directory, 'spool'),
    },
  });
  const { admin, apiToken, postgres } = deployment;
  const key = await addOrganization(postgres.url, authSecret);
  const endpoints = [{ baseUrl: provider.process.baseUrl, upstreamModel: 'sim-multi' }];
  const { laneId } = await createLane(admin, { name: 'limited', endpoints });
  for (const [metric, period] of [
    ['requests', 'minute'],
    ['tokens', 'day'],
  ]) {
    const limit = { scope_type: 'lane', scope_id: laneId, metric, period, limit_value: 100_000_000 };
    await admin.create('/api/relay/limit-policies', { ...limit, enabled: true });
  }
  await createLane(admin, { name: 'unlimited', endpoints });
  await createLane(adminClient(deployment.url, key), { name: 'unlimited', endpoints });
  await deployment.everywhere();
  return {
    deployment,
    redis,
    provider,
    limited: { token: apiToken, model: 'limited' },
    unlimited: [apiToken, key].map((token) => ({ token, model: 'unlimited' })),
    directory,
    async stop() {
      await deployment.stop();
      await Promise.all([redis.remove(), provider.stop()]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function addOrganization(databaseUrl: string, authSecret: string): Promise<string> {
  const accounts = openAccounts({ databaseUrl, authSecret });
  try {
    const organizationId = await accounts.addOrganization({ plan: 'self_hosted', name: 'Other' });
    const userId = await accounts.addMember(organizationId, { role: 'owner' });
    return (await accounts.addKey({ organizationId, userId, scopes: allScopes })).key;
  } finally {
    await accounts.close();
  }
}
