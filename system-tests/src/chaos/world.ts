import { allScopes, type LimitMetric } from '@relay/contract';
import { freePort } from '@relay/testbed';
import { openAccounts } from '../harness/accounts.ts';
import {
  type AdminClient,
  adminClient,
  createLane,
  type EndpointSetup,
  type LaneSetup,
} from '../harness/admin-client.ts';
import { everywhere } from '../harness/everywhere.ts';
import type { Fleet } from './fleet.ts';
import type { ProviderLog } from './provider-log.ts';

/** The token and the lane of a request. */
export interface Target {
  readonly token: string;
  readonly model: string;
}

export interface LimitedLane {
  readonly laneId: string;
  /** Day limits that are never reached, by metric. */
  readonly policies: Readonly<Record<Exclude<LimitMetric, 'concurrency'>, string>>;
}

/** Two organizations: one with limits on some lanes, one without limits. */
export interface World {
  readonly admin: AdminClient;
  /** Its limits make requests wait. */
  readonly limited: Target;
  /** Few requests a minute, so that a window that was forgotten shows. */
  readonly minutely: Target;
  /** In both organizations; `falling` has fallbacks, and in the first one limits that are never reached. */
  readonly unlimited: readonly Target[];
  readonly falling: readonly Target[];
  /** Through the gate, with and without limits. */
  readonly gated: readonly Target[];
  /** Lanes whose windows must equal the ledger. */
  readonly windows: readonly LimitedLane[];
}

/** The limits of the limited lane: concurrent requests, and requests per second. */
export const AT_ONCE_MAX = 6;
const PER_SECOND_MAX = 60;
export const PER_MINUTE_MAX = 30;
/** Short: who comes too many is refused, instead of keeping a client from asking elsewhere. */
const MINUTELY_WAIT_MS = 300;
const NEVER_REACHED = 1_000_000_000;
const PRICES = { input_cost_micros_per_1m_tokens: 1_000_000, output_cost_micros_per_1m_tokens: 4_000_000 };
const MODEL = 'sim-multi';
/** A failure for which the provider bills. */
export const BILLED_FAILURE = {
  error: { message: 'It broke.', type: 'server_error' },
  usage: { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 },
};
/** Credentials that the provider fails: with a bill, or before it counts anything. */
const FAILING_KEYS = { error: 'sk-error', cut: 'sk-cut' } as const;

/** The same with one organization and without a gate, for embedded stores. */
export async function makeSmallWorld(parts: {
  readonly provider: ProviderLog;
  readonly admin: AdminClient;
  readonly apiToken: string;
}): Promise<Omit<World, 'gated'>> {
  const { provider, admin, apiToken } = parts;
  await failSome(provider);
  const direct = { baseUrl: provider.process.baseUrl, upstreamModel: MODEL };
  const limited = await addLane(admin, 'limited', [
    { ...direct, endpoint: { max_concurrency: AT_ONCE_MAX } },
  ]);
  await addPolicy(admin, limited, { metric: 'requests', period: 'second', limit_value: PER_SECOND_MAX });
  await addMinutely(admin, direct);
  await addLane(admin, 'unlimited', [direct]);
  const falling = await addLane(admin, 'falling', await fallingTo(direct));
  const target = (model: string) => ({ token: apiToken, model });
  return {
    admin,
    limited: target('limited'),
    minutely: target('minutely'),
    unlimited: [target('unlimited')],
    falling: [target('falling')],
    windows: [await limitedLane(admin, limited), await limitedLane(admin, falling)],
  };
}

/** One that refuses connections, one that fails, and one that breaks off come first. */
async function fallingTo(direct: EndpointSetup): Promise<EndpointSetup[]> {
  return [
    { ...direct, baseUrl: `http://127.0.0.1:${await freePort()}/v1` },
    { ...direct, secret: FAILING_KEYS.error },
    { ...direct, secret: FAILING_KEYS.cut },
    direct,
  ];
}

function failSome(provider: ProviderLog): Promise<void> {
  return provider.script([
    { match: { key: FAILING_KEYS.error }, fault: { status: 500, body: BILLED_FAILURE }, persistent: true },
    { match: { key: FAILING_KEYS.cut }, fault: { cutBeforeHeaders: true }, persistent: true },
  ]);
}

export async function makeWorld(fleet: Fleet): Promise<World> {
  await failSome(fleet.provider);
  const owner = adminClient(fleet.platform.url, fleet.adminToken);
  const neighbourKey = await addNeighbour(fleet);
  const neighbour = adminClient(fleet.platform.url, neighbourKey);
  const direct = { baseUrl: fleet.provider.process.baseUrl, upstreamModel: MODEL };
  const gated = { baseUrl: new URL('/v1', fleet.gate.url).href, upstreamModel: MODEL };

  const limited = await addLane(owner, 'limited', [
    { ...direct, endpoint: { max_concurrency: AT_ONCE_MAX } },
  ]);
  await addPolicy(owner, limited, { metric: 'requests', period: 'second', limit_value: PER_SECOND_MAX });
  await addMinutely(owner, direct);
  const gatedLimited = await addLane(owner, 'gated', [gated]);
  const falling: string[] = [];
  for (const admin of [owner, neighbour]) {
    await addLane(admin, 'unlimited', [direct]);
    falling.push(await addLane(admin, 'falling', await fallingTo(direct)));
  }
  await addLane(neighbour, 'gated', [gated]);
  const windows: LimitedLane[] = [];
  for (const laneId of [limited, gatedLimited, falling[0] ?? ''])
    windows.push(await limitedLane(owner, laneId));
  const gateways = fleet.gateways.flatMap(({ process }) => process ?? []);
  await everywhere(fleet.postgres.url, [fleet.platform, ...gateways]);

  const tokens = [fleet.apiToken, neighbourKey];
  const each = (model: string) => tokens.map((token) => ({ token, model }));
  return {
    admin: owner,
    limited: { token: fleet.apiToken, model: 'limited' },
    minutely: { token: fleet.apiToken, model: 'minutely' },
    unlimited: each('unlimited'),
    falling: each('falling'),
    gated: each('gated'),
    windows,
  };
}

async function addNeighbour(fleet: Fleet): Promise<string> {
  const accounts = openAccounts({ databaseUrl: fleet.postgres.url, authSecret: fleet.authSecret });
  try {
    const organizationId = await accounts.addOrganization({ plan: 'self_hosted', name: 'Neighbour' });
    const userId = await accounts.addMember(organizationId, { role: 'owner' });
    return (await accounts.addKey({ organizationId, userId, scopes: allScopes })).key;
  } finally {
    await accounts.close();
  }
}

async function addMinutely(admin: AdminClient, endpoint: EndpointSetup): Promise<void> {
  const lane = { default_max_wait_ms: MINUTELY_WAIT_MS };
  const laneId = await addLane(admin, 'minutely', [endpoint], lane);
  await addPolicy(admin, laneId, { metric: 'requests', period: 'minute', limit_value: PER_MINUTE_MAX });
}

async function addLane(
  admin: AdminClient,
  name: string,
  endpoints: readonly EndpointSetup[],
  lane: LaneSetup['lane'] = {},
): Promise<string> {
  const { laneId, endpointIds } = await createLane(admin, { name, endpoints, lane });
  for (const endpoint_id of endpointIds)
    await admin.create('/api/relay/pricing-policies', { endpoint_id, currency: 'USD', ...PRICES });
  return laneId;
}

async function addPolicy(
  admin: AdminClient,
  laneId: string,
  setup: { metric: string; period: string; limit_value: number },
): Promise<string> {
  const body = { scope_type: 'lane', scope_id: laneId, enabled: true, ...setup };
  return (await admin.create('/api/relay/limit-policies', body)).id;
}

async function limitedLane(admin: AdminClient, laneId: string): Promise<LimitedLane> {
  const dayLimit = (metric: LimitMetric) =>
    addPolicy(admin, laneId, { metric, period: 'day', limit_value: NEVER_REACHED });
  return {
    laneId,
    policies: {
      requests: await dayLimit('requests'),
      tokens: await dayLimit('tokens'),
      spend: await dayLimit('spend'),
    },
  };
}
