import { randomBytes } from 'node:crypto';
import type { Live } from '@relay/contract';
import type { RequestLogEntry } from '@relay/provider-sim';
import { openAccounts } from '../harness/accounts.ts';
import { createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { type ProviderProcess, startProviderProcess } from '../harness/provider-process.ts';
import { byArrival, gapsMs, quantile, slidingExcess, tagOf } from '../harness/provider-view.ts';
import { type Sent, sendTagged } from '../harness/tagged-request.ts';

/** How much longer one request may travel to the provider than another: the windows are judged shorter by it. */
export const TRAVEL_MS = 50;
const REASON_CHARACTERS = 120;
const PERIOD_MS = { second: 1_000, minute: 60_000 } as const;

export interface Limit {
  readonly period: keyof typeof PERIOD_MS;
  readonly limit_value: number;
}

export interface LineSetup {
  readonly limit: Limit;
  readonly waitMsMax: number;
  readonly lane?: Readonly<Record<string, unknown>>;
  readonly endpoint?: Readonly<Record<string, unknown>>;
}

/** A lane with an endpoint of its own, and a limit on that. */
export interface Line {
  readonly model: string;
  readonly laneId: string;
  readonly endpointId: string;
  readonly policyId: string;
  readonly limit: Limit;
}

export interface AskOptions {
  readonly model: string;
  readonly tag: string;
  /** That of the deployment unless told. */
  readonly token?: string;
  /** Which gateway receives it. */
  readonly gateway?: number;
}

/** Gateways on stores of their own, and a provider whose log is the judge. */
export interface Site {
  readonly deployment: Deployment;
  readonly provider: ProviderProcess;
  /** Resolves when every gateway enforces the limit. */
  line(model: string, setup: LineSetup): Promise<Line>;
  /** Another lane to the same endpoint. */
  laneBeside(line: Line, name: string, lane: Readonly<Record<string, unknown>>): Promise<string>;
  change(line: Line, limit: Limit): Promise<void>;
  unlimit(line: Line): Promise<void>;
  /** Removes lanes, so that they are no class beside others'. */
  removeLanes(...laneIds: readonly string[]): Promise<void>;
  ask(options: AskOptions): Sent;
  /** The keys of two callers. */
  twoKeys(): Promise<readonly [string, string]>;
  /** Requests of the lane that wait, over all gateways. */
  waiting(laneId: string): Promise<number>;
  /** What the provider saw of requests whose tags begin so, by arrival. */
  seen(prefix: string): Promise<RequestLogEntry[]>;
  stop(): Promise<void>;
}

export async function startSite({ gateways }: { readonly gateways: number }): Promise<Site> {
  const authSecret = randomBytes(32).toString('base64url');
  const [provider, deployment] = await Promise.all([
    startProviderProcess(),
    startDeployment({
      processes: gateways,
      env: { RELAY_ACCOUNTS: 'true', RELAY_AUTH_SECRET: authSecret },
    }),
  ]);
  const { admin } = deployment;

  async function expect(method: string, path: string, body: unknown, status: number): Promise<void> {
    const answer = await admin.call(method, path, body);
    if (answer.status !== status)
      throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }
  const policyOf = (endpointId: string, limit: Limit) => ({
    scope_type: 'endpoint',
    scope_id: endpointId,
    metric: 'requests',
    enabled: true,
    ...limit,
  });

  return {
    deployment,
    provider,
    async line(model, { limit, waitMsMax, lane = {}, endpoint = {} }) {
      const entry = { baseUrl: provider.baseUrl, upstreamModel: 'sim-chat', endpoint };
      const { laneId, endpointIds } = await createLane(admin, {
        name: model,
        endpoints: [entry],
        lane: { default_max_wait_ms: waitMsMax, ...lane },
      });
      const [endpointId = ''] = endpointIds;
      const policy = await admin.create('/api/relay/limit-policies', policyOf(endpointId, limit));
      await deployment.everywhere();
      return { model, laneId, endpointId, policyId: policy.id, limit };
    },
    async laneBeside({ endpointId }, name, lane) {
      const members = [{ endpoint_id: endpointId }];
      const { id } = await admin.create('/api/relay/routing-lanes', { name, ...lane, members });
      await deployment.everywhere();
      return id;
    },
    change: ({ policyId, endpointId }, limit) =>
      expect('PUT', `/api/relay/limit-policies/${policyId}`, policyOf(endpointId, limit), 200),
    unlimit: ({ policyId }) => expect('DELETE', `/api/relay/limit-policies/${policyId}`, undefined, 204),
    async removeLanes(...laneIds) {
      for (const id of laneIds) await expect('DELETE', `/api/relay/routing-lanes/${id}`, undefined, 204);
      await deployment.everywhere();
    },
    ask({ model, tag, token = deployment.apiToken, gateway = 0 }) {
      const url = deployment.processes[gateway]?.url;
      if (url === undefined) throw new RangeError(`there is no gateway ${gateway}`);
      return sendTagged({ url, token, model, tag });
    },
    async twoKeys() {
      const accounts = openAccounts({ databaseUrl: deployment.postgres.url, authSecret });
      const account = await admin.call('GET', '/api/account');
      const organizationId = (account.body as { org: { id: string } }).org.id;
      const userId = await accounts.addMember(organizationId, { role: 'developer' });
      const add = async () =>
        (await accounts.addKey({ organizationId, userId, scopes: ['relay:request'] })).key;
      const keys = [await add(), await add()] as const;
      await accounts.close();
      await deployment.everywhere();
      return keys;
    },
    async waiting(laneId) {
      const { body } = await admin.call('GET', '/api/relay/live');
      return (body as Live).lanes.find((lane) => lane.lane_id === laneId)?.waiting ?? 0;
    },
    seen: async (prefix) =>
      byArrival((await provider.log()).filter((entry) => tagOf(entry).startsWith(prefix))),
    async stop() {
      await deployment.stop();
      await provider.stop();
    },
  };
}

/** The first words of answers that are no success, each once. */
export async function reasonsOf(sent: readonly Sent[]): Promise<string[]> {
  const answers = await Promise.all(sent.map(({ answer }) => answer));
  const failed = answers.filter(({ status }) => status !== 200);
  return [...new Set(failed.map(({ status, text }) => `${status} ${text.slice(0, REASON_CHARACTERS)}`))];
}

export interface GapsMs {
  readonly median: number;
  readonly p90: number;
  readonly most: number;
}

/** The times between two calls that the provider got. */
export function gapsOf(log: readonly RequestLogEntry[]): GapsMs {
  const gaps = gapsMs(log);
  return { median: quantile(gaps, 0.5), p90: quantile(gaps, 0.9), most: quantile(gaps, 1) };
}

/** How many windows of the limit held more than it allows, by the provider's own clock, if one request may travel that much longer than another. */
export type Exceeded = (travelMs: number) => number;

export function exceededWindows({ period, limit_value }: Limit, log: readonly RequestLogEntry[]): Exceeded {
  return (travelMs) =>
    slidingExcess(log, Math.max(1, PERIOD_MS[period] - travelMs), limit_value, () => 1).exceeded;
}
