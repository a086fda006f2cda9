import type { LaneDetail } from '@relay/contract';
import { queryOptions } from '@tanstack/react-query';
import { type Api, take } from './client.ts';
import { collectPages } from './collect-pages.ts';

/** The cache keys. A write names those it makes stale. */
export const cacheKeys = {
  session: ['session'],
  signInMethods: ['sign-in-methods'],
  capabilities: ['capabilities'],
  providers: ['providers'],
  providerPresets: ['provider-presets'],
  credentials: ['credentials'],
  endpoints: ['endpoints'],
  prices: ['prices'],
  lanes: ['lanes'],
  memberships: ['memberships'],
  apiKeys: ['api-keys'],
  apiKeyScopes: ['api-key-scopes'],
  orgApiKeys: ['org-api-keys'],
  members: ['members'],
  invitations: ['invitations'],
  browserSessions: ['browser-sessions'],
  apiKeyBudgets: ['api-key-budgets'],
  limitUsage: ['limit-usage'],
  nextLimits: ['limit-usage', 'next'],
  requestLimits: ['limit-usage', 'request'],
  limitPolicies: ['limit-policies'],
  userBudgets: ['user-budgets'],
  teams: ['teams'],
  teamBudgets: ['team-budgets'],
  showback: ['showback'],
  limitHistory: ['limit-history'],
  alerts: ['alerts'],
  alertDestinations: ['alert-destinations'],
  refusals: ['refusals'],
  models: ['models'],
  waits: ['waits'],
  laneTraffic: ['lane-traffic'],
  keyDay: ['key-day'],
  endpointStats: ['endpoint-stats'],
  laneStats: ['lane-stats'],
  apiKeyStats: ['api-key-stats'],
  failures: ['failures'],
  timeseries: ['timeseries'],
  statsSummary: ['stats-summary'],
  spend: ['spend'],
  live: ['live'],
  fallbacks: ['fallbacks'],
  requests: ['requests'],
  requestsOpened: ['requests-opened'],
  requestCount: ['request-count'],
  request: ['request'],
  requestHistogram: ['request-histogram'],
  auditLog: ['audit-log'],
  configFile: ['config-file'],
  guardrails: ['guardrails'],
  guardrail: ['guardrail'],
  guardrailPresets: ['guardrail-presets'],
  guardrailStats: ['guardrail-stats'],
  billing: ['billing'],
} as const;

export function sessionQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.session,
    queryFn: ({ signal }) => take(api.GET('/api/session', { signal })),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

export function signInMethodsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.signInMethods,
    queryFn: ({ signal }) => take(api.GET('/api/session/methods', { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function capabilitiesQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.capabilities,
    queryFn: ({ signal }) => take(api.GET('/api/relay/capabilities', { signal })),
    staleTime: 60_000,
  });
}

/** Health changes without a write, so pages that show it read it again. */
export const HEALTH_REFRESH = { refetchInterval: 10_000 } as const;

export function providersQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.providers,
    queryFn: ({ signal }) =>
      collectPages((query) => api.GET('/api/relay/providers', { params: { query }, signal })),
  });
}

export function providerPresetsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.providerPresets,
    queryFn: ({ signal }) =>
      collectPages((query) => api.GET('/api/relay/provider-presets', { params: { query }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function credentialsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.credentials,
    queryFn: ({ signal }) =>
      collectPages((query) => api.GET('/api/relay/credentials', { params: { query }, signal })),
  });
}

export function endpointsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.endpoints,
    queryFn: ({ signal }) =>
      collectPages((query) => api.GET('/api/relay/endpoints', { params: { query }, signal })),
  });
}

export function pricesQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.prices,
    queryFn: ({ signal }) =>
      collectPages((query) => api.GET('/api/relay/pricing-policies', { params: { query }, signal })),
  });
}

export function lanesQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.lanes,
    queryFn: ({ signal }) =>
      collectPages((query) => api.GET('/api/relay/routing-lanes', { params: { query }, signal })),
  });
}

/** A lane with its members as it is stored, and the version that a write of it names. */
export interface StoredLane {
  readonly lane: LaneDetail;
  readonly etag: string;
}

export function laneQuery(api: Api, laneId: string) {
  return queryOptions({
    queryKey: [...cacheKeys.lanes, laneId],
    queryFn: ({ signal }) =>
      storedLane(
        api.GET('/api/relay/routing-lanes/{group_id}', { params: { path: { group_id: laneId } }, signal }),
      ),
  });
}

/** The lane of a response, with its version. */
export async function storedLane(
  answer: Promise<{ data?: LaneDetail; response: Response }>,
): Promise<StoredLane> {
  const { response } = await answer;
  return { lane: await take(answer), etag: response.headers.get('etag') ?? '' };
}

export function membershipsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.memberships,
    queryFn: ({ signal }) =>
      collectPages((query) => api.GET('/api/relay/lane-memberships', { params: { query }, signal })),
  });
}

export function apiKeysQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.apiKeys,
    queryFn: ({ signal }) =>
      collectPages(async (query) => {
        const { data, response } = await api.GET('/api/account/api-keys', { params: { query }, signal });
        return { data: data?.api_keys ?? [], response };
      }),
  });
}

export function apiKeyScopesQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.apiKeyScopes,
    queryFn: async ({ signal }) => (await take(api.GET('/api/account/api-key-scopes', { signal }))).scopes,
    staleTime: 60_000,
  });
}

export function apiKeyBudgetsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.apiKeyBudgets,
    queryFn: async ({ signal }) =>
      (await take(api.GET('/api/relay/api-key-limit-policies', { signal }))).policies,
  });
}

/** The current usage of every limit. */
export function limitUsageQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.limitUsage,
    queryFn: ({ signal }) =>
      collectPages((query) => api.GET('/api/relay/limits/usage', { params: { query }, signal })),
    refetchInterval: 15_000,
  });
}

/** The current usage of the limits of one kind: of one member and their keys, or of all. Those of teams have no member. */
export function ownedLimitUsageQuery(
  api: Api,
  kind: 'api_key' | 'user' | 'team',
  userId: string | undefined,
) {
  const filters = { policy_kind: kind, ...(userId !== undefined && { user_uuid: userId }) };
  return queryOptions({
    queryKey: [...cacheKeys.limitUsage, filters],
    queryFn: ({ signal }) =>
      collectPages((query) =>
        api.GET('/api/relay/limits/usage', { params: { query: { ...query, ...filters } }, signal }),
      ),
    // An organization may have a limit for each of thousands of keys.
    refetchInterval: userId === undefined ? 60_000 : 15_000,
  });
}

const DAY_MS = 86_400_000;

/** The wait times of a lane's requests in the last 7 days. */
export function waitDistributionQuery(api: Api, laneId: string) {
  return queryOptions({
    queryKey: [...cacheKeys.waits, laneId],
    queryFn: ({ signal }) => {
      const from = new Date(Date.now() - 7 * DAY_MS).toISOString();
      return take(
        api.GET('/api/relay/stats/wait-distribution', {
          params: { query: { lane_id: laneId, from } },
          signal,
        }),
      );
    },
    staleTime: 60_000,
  });
}

/** The models that clients can call: lanes and the models of endpoints. */
export function modelsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.models,
    queryFn: async ({ signal }) => (await take(api.GET('/models', { baseUrl: '/v1', signal }))).data,
  });
}
