import type { LimitMetric } from '@relay/contract';
import { redisCall } from '@relay/testbed';
import { type AdminClient, adminClient } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { exchangeRaw } from '../harness/raw-exchange.ts';
import { startRelay } from '../harness/relay-process.ts';
import { afterMs } from '../harness/until.ts';
import { errorBody } from './answers.ts';
import type { Play, Report } from './bill.ts';
import { modes } from './modes.ts';
import { completePlay, headOf, play } from './plays.ts';
import type { BilledProvider } from './provider.ts';

const CLOSED_MS_MAX = 30_000;
const POLL_MS = 100;
const MODEL = 'played-model';
/** Micro-USD for a token. */
const PRICE = 2;

const [chat = modes[0]] = modes;
if (chat === undefined) throw new Error('there is no mode');
const plain = chat;

export const servedPlay = (report: Report): Promise<Play> =>
  completePlay({ mode: plain, telling: { reports: [report] } });

export const refusedPlay = (status: number, report?: Report): Promise<Play> => {
  const scene = { mode: plain, telling: { reports: [] } };
  return play(scene, { head: headOf(scene, status), pieces: errorBody('chat', report) });
};

/** What a loss is: the process starts again on its directory, or Redis is emptied while the gateways run. */
export interface Loser {
  readonly name: string;
  readonly deployment: Deployment;
  /** Runs the work after the loss, on gateways that serve again. */
  after<T>(work: (urls: readonly string[]) => Promise<T>): Promise<T>;
}

export async function startLoser(kind: 'relay start' | 'two gateways'): Promise<Loser> {
  if (kind === 'relay start') {
    const deployment = await startDeployment({ stores: 'embedded' });
    return {
      name: kind,
      deployment,
      async after(work) {
        await deployment.processes[0]?.stop();
        const again = await startRelay({
          env: deployment.env,
          dataDirectory: deployment.dataDirectory ?? '',
        });
        try {
          return await work([again.url]);
        } finally {
          await again.stop();
        }
      },
    };
  }
  const deployment = await startDeployment({ stores: 'servers', processes: 2 });
  return {
    name: kind,
    deployment,
    async after(work) {
      await redisCall(deployment.redis.port, 'FLUSHALL');
      return work(deployment.processes.map(({ url }) => url));
    },
  };
}

export interface SmallLane {
  readonly name: string;
  readonly id: string;
  readonly endpointIds: readonly string[];
  readonly endpoints: readonly string[];
}

/** A lane of these endpoints, in order; where a URL is given, the endpoint is there and not at the provider. */
export async function addLane(
  admin: AdminClient,
  provider: BilledProvider,
  name: string,
  urls: readonly (string | null)[],
): Promise<SmallLane> {
  const lane = await admin.create('/api/relay/routing-lanes', {
    name,
    default_max_wait_ms: 0,
    allow_fallback: true,
    enabled: true,
  });
  const endpointIds: string[] = [];
  const endpoints = urls.map((_, index) => `${name}-${index + 1}`);
  for (const [index, url] of urls.entries()) {
    const slug = endpoints[index] ?? '';
    const made = await admin.create('/api/relay/providers', {
      name: slug,
      base_url: url ?? provider.urlOf(slug),
      auth_mode: 'none',
      enabled: true,
    });
    const endpoint = await admin.create('/api/relay/endpoints', {
      provider_id: made.id,
      name: slug,
      upstream_model: MODEL,
      route_kind: 'multi',
      enabled: true,
    });
    await admin.create('/api/relay/pricing-policies', {
      endpoint_id: endpoint.id,
      input_cost_micros_per_1m_tokens: PRICE * 1_000_000,
      output_cost_micros_per_1m_tokens: PRICE * 1_000_000,
    });
    await admin.create('/api/relay/lane-memberships', {
      lane_id: lane.id,
      endpoint_id: endpoint.id,
      manual_rank: index + 1,
      enabled: true,
    });
    endpointIds.push(endpoint.id);
  }
  return { name, id: lane.id, endpointIds, endpoints };
}

export async function addLimit(
  admin: AdminClient,
  scope: { readonly type: 'lane' | 'endpoint'; readonly id: string },
  metric: LimitMetric,
  limit_value: number,
  period: 'day' | 'minute' = 'day',
): Promise<string> {
  const limit = { scope_type: scope.type, scope_id: scope.id, metric, period, limit_value };
  return (await admin.create('/api/relay/limit-policies', limit)).id;
}

/** What limits hold, in the order of their ids. */
export async function usedOf(
  { deployment }: Loser,
  url: string,
  policyIds: readonly string[],
): Promise<readonly (number | undefined)[]> {
  const { body } = await adminClient(url, deployment.adminToken).call('GET', '/api/relay/limits/usage');
  const states = body as { policy_id: string; used: number; reserved: number }[];
  return policyIds.map((id) => {
    const state = states.find(({ policy_id }) => policy_id === id);
    return state === undefined ? undefined : state.used + state.reserved;
  });
}

/** Asks until limits are known again, and answers the status. */
export async function ask({ deployment }: Loser, url: string, lane: string): Promise<number> {
  const endMs = performance.now() + CLOSED_MS_MAX;
  for (;;) {
    const { status } = await exchangeRaw({
      url: `${url}/v1/chat/completions`,
      headers: { authorization: `Bearer ${deployment.apiToken}` },
      body: JSON.stringify({ model: lane, messages: [{ role: 'user', content: 'Say three words.' }] }),
    });
    if (status !== 503 || performance.now() > endMs) return status;
    await afterMs(POLL_MS);
  }
}
