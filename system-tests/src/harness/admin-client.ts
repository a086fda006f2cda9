import { bearer, relayFetch } from './relay-fetch.ts';

/** The management interface as plain `fetch` sees it. */
export interface AdminClient {
  call(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; headers: Headers; body: unknown }>;
  /** POST that must answer 201; answers the object. */
  create(path: string, body: unknown): Promise<Record<string, unknown> & { id: string }>;
}

/** Every response is checked against the contract, unless the deployment is of another version. */
export function adminClient(url: string, token: string, expectsDeviation = false): AdminClient {
  async function call(method: string, path: string, body?: unknown) {
    const request = { headers: bearer(token), body, expectsDeviation };
    const answer = await relayFetch(url, method, path, request);
    return { status: answer.status, headers: answer.headers, body: answer.body ?? null };
  }
  return {
    call,
    async create(path, body) {
      const answer = await call('POST', path, body);
      if (answer.status !== 201)
        throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      return answer.body as Record<string, unknown> & { id: string };
    },
  };
}

export interface EndpointSetup {
  readonly baseUrl: string;
  readonly upstreamModel: string;
  readonly secret?: string;
  readonly provider?: Readonly<Record<string, unknown>>;
  readonly endpoint?: Readonly<Record<string, unknown>>;
}

export interface LaneSetup {
  readonly name: string;
  readonly endpoints: readonly EndpointSetup[];
  readonly lane?: Readonly<Record<string, unknown>>;
}

export interface LaneIds {
  readonly laneId: string;
  readonly endpointIds: readonly string[];
  readonly providerIds: readonly string[];
}

/** Creates provider, credential, endpoint and membership for each entry, in rank order, and the lane. */
export async function createLane(admin: AdminClient, setup: LaneSetup): Promise<LaneIds> {
  const lane = await admin.create('/api/relay/routing-lanes', {
    name: setup.name,
    default_max_wait_ms: 5_000,
    allow_fallback: true,
    enabled: true,
    // Suites give lanes the names of models and of other lanes on purpose.
    takes_over: true,
    ...setup.lane,
  });
  const endpointIds: string[] = [];
  const providerIds: string[] = [];
  for (const [index, entry] of setup.endpoints.entries()) {
    const name = `${setup.name} ${index + 1}`;
    const provider = await admin.create('/api/relay/providers', {
      name,
      base_url: entry.baseUrl,
      auth_mode: 'bearer_static',
      enabled: true,
      ...entry.provider,
    });
    await admin.create('/api/relay/credentials', {
      provider_id: provider.id,
      name: 'primary',
      secret: entry.secret ?? 'sk-upstream',
    });
    const endpoint = await admin.create('/api/relay/endpoints', {
      provider_id: provider.id,
      name,
      upstream_model: entry.upstreamModel,
      route_kind: 'multi',
      supports_streaming: true,
      enabled: true,
      ...entry.endpoint,
    });
    await admin.create('/api/relay/lane-memberships', {
      lane_id: lane.id,
      endpoint_id: endpoint.id,
      manual_rank: index + 1,
      enabled: true,
    });
    providerIds.push(provider.id);
    endpointIds.push(endpoint.id);
  }
  return { laneId: lane.id, endpointIds, providerIds };
}
