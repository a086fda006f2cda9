import { randomBytes } from 'node:crypto';
import { type Accounts, openAccounts, type SeededKey } from './accounts.ts';
import { accountsOverApi } from './accounts-over-api.ts';
import type { AdminClient } from './admin-client.ts';
import { type Deployment, startDeployment } from './deployment.ts';

/** Three lanes, one endpoint each: the first two share a provider. Names are what requests call as `model`. */
export const LANES = { first: 'first', second: 'second', elsewhere: 'elsewhere' } as const;
/** The endpoint of the first lane and of the second, called past the lane. */
export const MODELS = { first: 'sim-first', second: 'sim-second', elsewhere: 'sim-elsewhere' } as const;

/** Micro-USD for a million tokens. */
const PRICES = { input_cost_micros_per_1m_tokens: 1_000_000, output_cost_micros_per_1m_tokens: 4_000_000 };

export interface Member {
  readonly userId: string;
  readonly keys: readonly [SeededKey, SeededKey];
}

/** A self-hosted deployment with accounts: two processes on the same stores, or one with its own; members with two keys each. */
export interface Company {
  readonly deployment: Deployment;
  readonly accounts: Accounts;
  readonly admin: AdminClient;
  readonly organizationId: string;
  readonly providerId: string;
  readonly endpointId: string;
  readonly laneId: string;
  addMember(): Promise<Member>;
  addKey(member: Member): Promise<SeededKey>;
  stop(): Promise<void>;
}

export async function startCompany(): Promise<Company> {
  const authSecret = randomBytes(32).toString('base64url');
  const deployment = await startDeployment({
    processes: 2,
    env: { RELAY_ACCOUNTS: 'true', RELAY_AUTH_SECRET: authSecret },
    provider: { models: Object.values(MODELS) },
  });
  const { admin } = deployment;
  const accounts =
    deployment.dataDirectory === null
      ? openAccounts({ databaseUrl: deployment.postgres.url, authSecret })
      : accountsOverApi(deployment);
  const account = await admin.call('GET', '/api/account');
  const organizationId = (account.body as { org: { id: string } }).org.id;
  const shared = await addProvider(deployment, 'Shared');
  const other = await addProvider(deployment, 'Other');
  const first = await addLane(admin, shared, LANES.first, MODELS.first);
  await addLane(admin, shared, LANES.second, MODELS.second);
  await addLane(admin, other, LANES.elsewhere, MODELS.elsewhere);

  const addKey = (userId: string) =>
    accounts.addKey({ organizationId, userId, scopes: ['relay:request', 'relay:usage:read'] });
  return {
    deployment,
    accounts,
    admin,
    organizationId,
    providerId: shared,
    ...first,
    async addMember() {
      const userId = await accounts.addMember(organizationId, { role: 'developer' });
      return { userId, keys: [await addKey(userId), await addKey(userId)] };
    },
    addKey: ({ userId }) => addKey(userId),
    async stop() {
      await accounts.close();
      await deployment.stop();
    },
  };
}

async function addProvider({ admin, provider }: Deployment, name: string): Promise<string> {
  const { id } = await admin.create('/api/relay/providers', {
    name,
    base_url: provider.baseUrl,
    auth_mode: 'bearer_static',
    enabled: true,
  });
  await admin.create('/api/relay/credentials', { provider_id: id, name: 'main', secret: 'sk-upstream' });
  return id;
}

async function addLane(
  admin: AdminClient,
  providerId: string,
  name: string,
  upstreamModel: string,
): Promise<{ laneId: string; endpointId: string }> {
  const endpoint = await admin.create('/api/relay/endpoints', {
    provider_id: providerId,
    name: upstreamModel,
    upstream_model: upstreamModel,
    route_kind: 'multi',
  });
  await admin.create('/api/relay/pricing-policies', { endpoint_id: endpoint.id, currency: 'USD', ...PRICES });
  const lane = await admin.create('/api/relay/routing-lanes', {
    name,
    default_max_wait_ms: 2_000,
    allow_fallback: false,
    enabled: true,
  });
  await admin.create('/api/relay/lane-memberships', {
    lane_id: lane.id,
    endpoint_id: endpoint.id,
    manual_rank: 1,
    enabled: true,
  });
  return { laneId: lane.id, endpointId: endpoint.id };
}
