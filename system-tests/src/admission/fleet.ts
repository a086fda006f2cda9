import type { LimitMetric, LimitPeriod } from '@relay/contract';
import { type RedisCluster, type SchedulerWatch, startRedisCluster, watchScheduler } from '@relay/testbed';
import { createLane, type LaneIds, type LaneSetup } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { type ProviderProcess, startProviderProcess } from '../harness/provider-process.ts';

export interface PolicySetup {
  readonly scope_type?: 'global' | 'provider' | 'credential' | 'endpoint' | 'lane';
  readonly scope_id?: string | null;
  readonly metric: LimitMetric;
  readonly period: LimitPeriod;
  readonly limit_value: number;
}

export interface PolicyUsage {
  readonly policy_id: string;
  readonly limit: number;
  readonly used: number;
  readonly reserved: number;
  readonly remaining: number;
}

/** Several server processes on the same stores, and a provider whose own log is the judge. */
export interface Fleet {
  readonly deployment: Deployment;
  /** The initial processes, without one that is started later to be killed. */
  readonly size: number;
  readonly provider: ProviderProcess;
  /** The Redis servers to inspect: the single one, or every master of the cluster. */
  readonly redisPorts: readonly number[];
  /** Creates a lane, with one endpoint by default; resolves when every process knows it. */
  lane(name: string, setup?: LaneOptions): Promise<LaneIds>;
  /** Resolves when every process enforces it. */
  policies(...setups: readonly PolicySetup[]): Promise<string[]>;
  change(id: string, setup: PolicySetup): Promise<void>;
  remove(...ids: readonly string[]): Promise<void>;
  usage(policyId: string): Promise<PolicyUsage>;
  /** What the scheduler takes from its processes and from the provider. */
  watch(): SchedulerWatch;
  stop(): Promise<void>;
}

export interface LaneOptions {
  readonly lane?: LaneSetup['lane'];
  readonly endpoint?: Readonly<Record<string, unknown>>;
}

export async function startFleet(options: { processes: number; cluster?: boolean }): Promise<Fleet> {
  const [cluster, provider] = await Promise.all([
    options.cluster === true ? startRedisCluster() : null,
    startProviderProcess(),
  ]);
  const deployment = await startDeployment({
    processes: options.processes,
    env: cluster === null ? {} : { REDIS_URL: cluster.urls.join(',') },
  });
  const { admin } = deployment;

  async function put(method: string, path: string, body: unknown, status: number): Promise<void> {
    const answer = await admin.call(method, path, body);
    if (answer.status !== status)
      throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }

  return {
    deployment,
    size: deployment.processes.length,
    provider,
    get redisPorts() {
      return portsOf(deployment, cluster);
    },
    async lane(name, { lane = {}, endpoint = {} } = {}) {
      const entry = { baseUrl: provider.baseUrl, upstreamModel: 'sim-chat', endpoint };
      const made = await createLane(admin, { name, endpoints: [entry], lane });
      await deployment.everywhere();
      return made;
    },
    async policies(...setups) {
      const ids: string[] = [];
      for (const setup of setups) {
        const body = { scope_type: 'global', scope_id: null, enabled: true, ...setup };
        ids.push((await admin.create('/api/relay/limit-policies', body)).id);
      }
      await deployment.everywhere();
      return ids;
    },
    change: (id, setup) => {
      const body = { scope_type: 'global', scope_id: null, enabled: true, ...setup };
      return put('PUT', `/api/relay/limit-policies/${id}`, body, 200);
    },
    async remove(...ids) {
      for (const id of ids) await put('DELETE', `/api/relay/limit-policies/${id}`, undefined, 204);
      await deployment.everywhere();
    },
    async usage(policyId) {
      const { status, body } = await admin.call('GET', '/api/relay/limits/usage');
      const found = status === 200 ? (body as PolicyUsage[]) : [];
      const usage = found.find(({ policy_id }) => policy_id === policyId);
      if (usage === undefined) throw new Error(`no usage of ${policyId}: ${status} ${JSON.stringify(body)}`);
      return usage;
    },
    watch: () => watchScheduler([...deployment.processes, provider]),
    async stop() {
      await deployment.stop();
      await Promise.all([provider.stop(), cluster?.remove()]);
    },
  };
}

function portsOf(deployment: Deployment, cluster: RedisCluster | null): number[] {
  return (cluster?.nodes ?? [deployment.redis]).map(({ port }) => port);
}
