import { freePort, type PrivateRedis, redisCall, startRedis, startTcpProxy } from '@relay/testbed';
import { IS_LONG } from '@relay/testbed/long-form';
import { type ProviderLog, startProviderLog } from '../chaos/provider-log.ts';
import { createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { afterMs, until } from '../harness/until.ts';

/** A deployment whose Redis has a replica, both behind one address. */
export interface Site {
  readonly deployment: Deployment;
  readonly provider: ProviderLog;
  /** By lane. */
  readonly policies: Readonly<Record<LaneName, string>>;
  readonly primary: () => PrivateRedis;
  /** The replica stops following for that long; then the primary dies, and the replica takes its address. */
  failOver(behindMs: number): Promise<void>;
  /** Redis dies and comes back with nothing. */
  restartEmpty(): Promise<void>;
  stop(): Promise<void>;
}

export const LIMITS = IS_LONG
  ? { minute: 2_000, units: 40, day: 1_000_000 }
  : { minute: 60, units: 4, day: 1_000_000 };
export type LaneName = keyof typeof LIMITS;
export const LANES = Object.keys(LIMITS) as readonly LaneName[];

const METRICS = {
  minute: { metric: 'requests', period: 'minute' },
  units: { metric: 'concurrency', period: 'none' },
  day: { metric: 'requests', period: 'day' },
} as const;

export async function startSite(): Promise<Site> {
  const [first, second, provider] = await Promise.all([startRedis(), startRedis(), startProviderLog()]);
  const front = await startTcpProxy({ target: first.url });
  const link = await startTcpProxy({ target: first.url });
  await follow(second, link.port);
  const deployment = await startDeployment({
    processes: 2,
    stores: 'servers',
    env: { REDIS_URL: front.url },
  });
  const policies: Record<string, string> = {};
  for (const name of LANES) policies[name] = await addLane(deployment, provider, name);
  await deployment.everywhere();
  let primary = first;

  return {
    deployment,
    provider,
    policies: policies as Record<LaneName, string>,
    primary: () => primary,
    async failOver(behindMs) {
      link.stall();
      await afterMs(behindMs);
      await first.kill();
      await link.refuse();
      await redisCall(second.port, 'REPLICAOF', 'NO', 'ONE');
      front.retarget(second.url);
      front.cut();
      primary = second;
    },
    async restartEmpty() {
      await primary.kill();
      await primary.start();
    },
    async stop() {
      await deployment.stop();
      await Promise.all([front.close(), link.close(), first.remove(), second.remove(), provider.stop()]);
    },
  };
}

async function follow(replica: PrivateRedis, port: number): Promise<void> {
  await redisCall(replica.port, 'REPLICAOF', '127.0.0.1', String(port));
  const isUp = await until(
    async () => String(await redisCall(replica.port, 'INFO', 'replication')).includes('link_status:up'),
    20_000,
  );
  if (!isUp) throw new Error('the replica does not follow');
}

async function addLane({ admin }: Deployment, provider: ProviderLog, name: LaneName): Promise<string> {
  const endpoint = { upstreamModel: 'sim-multi', endpoint: { pacing: false } };
  const { endpointIds } = await createLane(admin, {
    name,
    // The first refuses connections: what was never sent counts nowhere.
    endpoints: [
      { ...endpoint, baseUrl: `http://127.0.0.1:${await freePort()}/v1` },
      { ...endpoint, baseUrl: provider.process.baseUrl },
    ],
    lane: { default_max_wait_ms: 0 },
  });
  const limit = { scope_type: 'endpoint', scope_id: endpointIds[1], limit_value: LIMITS[name] };
  const { id } = await admin.create('/api/relay/limit-policies', {
    ...limit,
    ...METRICS[name],
    enabled: true,
  });
  return id;
}
