import type { Route, RouteId } from '@relay/contract';
import { MODEL, type Objects } from './objects.ts';

/** A valid request; only the caller may lack permission. */
export interface Sample {
  /** The values of the path's parameters, in their order. */
  readonly path?: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
}

const messages = [{ role: 'user', content: 'Say hello.' }];
const limit = { metric: 'spend', period: 'month', limit_value: 1_000_000, enabled: true };
const laneSettings = { default_max_wait_ms: 1_000, allow_fallback: true, enabled: true };
/** Of everybody who has one. */
export const PASSWORD = 'a password of some length';

/**
 * One request for every route, made from objects of the organization it is about. Sign-in and sign-up routes are sent
 * a body that lacks something: getting as far as that being noticed shows the door open, and leaves no account behind.
 */
export const sampleOf: Readonly<Record<RouteId, (of: Objects) => Sample>> = {
  createChatCompletion: ({ laneSlug }) => ({ body: { model: laneSlug, messages } }),
  createResponse: () => ({ body: { model: MODEL, input: 'Say hello.' } }),
  createEmbeddings: () => ({ body: { model: MODEL, input: 'hello' } }),
  createMessage: () => ({ body: { model: MODEL, max_tokens: 9, messages } }),
  countTokens: () => ({ body: { model: MODEL, messages } }),
  listModels: () => ({}),
  getModel: ({ laneSlug }) => ({ path: [laneSlug] }),

  getAccount: () => ({}),
  updateAccount: () => ({ body: { name: 'Ada' } }),
  updatePreferences: () => ({ body: { marketing_opt_in: true } }),
  listApiKeys: () => ({}),
  createApiKey: () => ({ body: { name: 'Made', scopes: ['cloud:account:manage'] } }),
  listApiKeyScopes: () => ({}),
  renameApiKey: ({ keyId }) => ({ path: [keyId], body: { name: 'Renamed' } }),
  revokeApiKey: ({ spareKeyId }) => ({ path: [spareKeyId] }),
  getBillingHistory: () => ({}),
  getUsageStatement: () => ({ query: { month: '2026-01' } }),
  receiveStripeEvent: () => ({ body: {} }),
  createSession: () => ({ body: {} }),
  getSession: () => ({}),
  getSignInMethods: () => ({}),
  updateSession: ({ organizationId }) => ({ body: { org_id: organizationId } }),
  deleteSession: () => ({}),
  requestSignUp: () => ({ body: {} }),
  signUp: () => ({ body: {} }),
  acceptInvitation: () => ({ body: {} }),
  requestPasswordReset: () => ({ body: {} }),
  confirmPasswordReset: () => ({ body: {} }),
  leaveOrganization: () => ({}),
  startSso: () => ({}),
  finishSso: () => ({}),
  listSessions: () => ({}),
  revokeSession: ({ requestId }) => ({ path: [requestId] }),
  changePassword: () => ({ body: { current_password: PASSWORD, new_password: PASSWORD } }),
  changeEmail: ({ memberId }) => ({
    body: { email: `changed-${memberId.slice(-12)}@example.com`, password: PASSWORD },
  }),
  startTotp: () => ({ body: { password: PASSWORD } }),
  confirmTotp: () => ({ body: { code: '000000' } }),
  removeTotp: () => ({ body: { password: PASSWORD } }),

  getOrg: () => ({}),
  updateOrg: () => ({ body: { name: 'Acme' } }),
  listMembers: () => ({}),
  updateMember: ({ memberId }) => ({ path: [memberId], body: { role: 'viewer' } }),
  removeMember: ({ memberId }) => ({ path: [memberId] }),
  listInvitations: () => ({}),
  createInvitation: ({ memberId }) => ({
    body: { email: `asked-${memberId.slice(-12)}@example.com`, role: 'viewer' },
  }),
  deleteInvitation: ({ invitationId }) => ({ path: [invitationId] }),
  listOrgApiKeys: () => ({}),
  createOrgApiKey: ({ memberId }) => ({
    body: { user_uuid: memberId, name: 'Made', scopes: ['cloud:account:manage'] },
  }),
  updateOrgApiKey: ({ keyId }) => ({ path: [keyId], body: { labels: { app: 'search' } } }),
  revokeOrgApiKey: ({ memberKeyId }) => ({ path: [memberKeyId] }),
  listAuditLog: () => ({}),

  listProviders: () => ({}),
  createProvider: () => ({
    body: { name: 'Made', base_url: 'https://api.example.com/v1', auth_mode: 'bearer_static', enabled: true },
  }),
  getProvider: ({ providerId }) => ({ path: [providerId] }),
  updateProvider: ({ providerId }) => ({ path: [providerId], body: { name: 'Changed' } }),
  deleteProvider: ({ spareProviderId }) => ({ path: [spareProviderId] }),
  testProvider: ({ providerId }) => ({ path: [providerId] }),
  listCredentials: () => ({}),
  createCredential: ({ providerId }) => ({
    body: { provider_id: providerId, name: 'Made', secret: 'sk-made' },
  }),
  updateCredential: ({ credentialId }) => ({ path: [credentialId], body: { name: 'Changed' } }),
  deleteCredential: ({ spareCredentialId }) => ({ path: [spareCredentialId] }),
  listPricingPolicies: () => ({}),
  createPricingPolicy: ({ bareEndpointId }) => ({
    body: {
      endpoint_id: bareEndpointId,
      input_cost_micros_per_1m_tokens: 1,
      output_cost_micros_per_1m_tokens: 1,
    },
  }),
  updatePricingPolicy: ({ pricingPolicyId }) => ({
    path: [pricingPolicyId],
    body: { flat_request_cost_micros: 1 },
  }),
  deletePricingPolicy: ({ sparePricingPolicyId }) => ({ path: [sparePricingPolicyId] }),
  planPrices: () => ({ body: { source: 'litellm', entries: [] } }),
  applyPrices: () => ({ body: { source: 'litellm', entries: [], plan_hash: 'of another plan' } }),
  getModelFacts: ({ providerId }) => ({ query: { provider_id: providerId, upstream_model: 'gpt-4o' } }),

  listEndpoints: () => ({}),
  createEndpoint: ({ providerId }) => ({
    body: { provider_id: providerId, name: 'Made', upstream_model: 'made-model', route_kind: 'multi' },
  }),
  getEndpoint: ({ endpointId }) => ({ path: [endpointId] }),
  updateEndpoint: ({ endpointId }) => ({ path: [endpointId], body: { name: 'Changed' } }),
  deleteEndpoint: ({ spareEndpointId }) => ({ path: [spareEndpointId] }),
  testEndpoint: ({ endpointId }) => ({ path: [endpointId] }),
  listLanes: () => ({}),
  // Suites send it several times.
  createLane: () => ({ body: { name: 'Made', ...laneSettings, takes_over: true } }),
  getLane: ({ laneId }) => ({ path: [laneId] }),
  updateLane: ({ laneId }) => ({
    path: [laneId],
    body: { name: 'Main lane', ...laneSettings, takes_over: true },
  }),
  deleteLane: ({ spareLaneId }) => ({ path: [spareLaneId], query: { takes_over: 'true' } }),
  listMemberships: () => ({}),
  createMembership: ({ laneId, bareEndpointId }) => ({
    body: { lane_id: laneId, endpoint_id: bareEndpointId, manual_rank: 3, enabled: true },
  }),
  getMembership: ({ membershipId }) => ({ path: [membershipId] }),
  updateMembership: ({ membershipId }) => ({ path: [membershipId], body: { manual_rank: 1, enabled: true } }),
  deleteMembership: ({ spareMembershipId }) => ({ path: [spareMembershipId] }),
  explainRouting: ({ laneSlug }) => ({ body: { operation: 'chat', body: { model: laneSlug, messages } } }),

  listGuardrails: () => ({}),
  createGuardrail: () => ({ body: { name: 'Made', base_url: 'https://guard.example.com' } }),
  getGuardrail: ({ guardrailId }) => ({ path: [guardrailId] }),
  updateGuardrail: ({ guardrailId }) => ({ path: [guardrailId], body: { name: 'Changed' } }),
  deleteGuardrail: ({ spareGuardrailId }) => ({ path: [spareGuardrailId] }),
  listGuardrailBindings: ({ guardrailId }) => ({ path: [guardrailId] }),
  replaceGuardrailBindings: ({ guardrailId, laneId }) => ({
    path: [guardrailId],
    body: { bindings: [{ target_type: 'lane', target_id: laneId }] },
  }),
  testGuardrail: ({ guardrailId }) => ({ path: [guardrailId], body: { text: 'hello' } }),
  getGuardrailStats: ({ guardrailId }) => ({ path: [guardrailId] }),
  getGuardrailTotals: () => ({}),
  listGuardrailPresets: () => ({}),
  listProviderPresets: () => ({}),

  listLimitPolicies: () => ({}),
  createLimitPolicy: ({ endpointId }) => ({
    body: { scope_type: 'endpoint', scope_id: endpointId, ...limit },
  }),
  getLimitPolicy: ({ limitPolicyId }) => ({ path: [limitPolicyId] }),
  updateLimitPolicy: ({ limitPolicyId, endpointId }) => ({
    path: [limitPolicyId],
    // Equal to no other limit, also where organizations of a suite are one.
    body: { scope_type: 'endpoint', scope_id: endpointId, ...limit, limit_value: 2 },
  }),
  deleteLimitPolicy: ({ spareLimitPolicyId }) => ({ path: [spareLimitPolicyId] }),
  listUserLimitPolicies: () => ({}),
  upsertUserLimitPolicy: ({ memberId }) => ({
    body: { user_uuid: memberId, target_type: 'global', ...limit },
  }),
  deleteUserLimitPolicy: ({ spareUserPolicyId }) => ({ query: { limit_uuid: spareUserPolicyId } }),
  listApiKeyLimitPolicies: () => ({}),
  upsertApiKeyLimitPolicy: ({ keyId }) => ({
    body: { api_key_uuid: keyId, target_type: 'global', ...limit },
  }),
  listTeams: () => ({}),
  createTeam: () => ({ body: { name: 'team' } }),
  getTeam: ({ teamId }) => ({ path: [teamId] }),
  updateTeam: ({ teamId }) => ({ path: [teamId], body: { name: 'team', kind: 'project' } }),
  deleteTeam: ({ spareTeamId }) => ({ path: [spareTeamId] }),
  listTeamLimitPolicies: () => ({}),
  upsertTeamLimitPolicy: ({ teamId }) => ({
    body: {
      team_uuid: teamId,
      target_type: 'global',
      metric: 'tokens',
      period: 'week',
      limit_value: 1_000_000,
    },
  }),
  deleteTeamLimitPolicy: ({ spareTeamPolicyId }) => ({ query: { limit_uuid: spareTeamPolicyId } }),
  deleteApiKeyLimitPolicy: ({ spareKeyPolicyId }) => ({ query: { limit_uuid: spareKeyPolicyId } }),
  listLimitUsage: () => ({}),
  getNextLimits: () => ({}),
  listAlerts: () => ({}),
  listAlertDestinations: () => ({}),
  createAlertDestination: () => ({
    body: { name: 'Made', kind: 'webhook', url: 'https://alerts.example.com/made' },
  }),
  getAlertDestination: ({ alertDestinationId }) => ({ path: [alertDestinationId] }),
  updateAlertDestination: ({ alertDestinationId }) => ({
    path: [alertDestinationId],
    body: { name: 'Changed' },
  }),
  deleteAlertDestination: ({ spareAlertDestinationId }) => ({ path: [spareAlertDestinationId] }),
  testAlertDestination: ({ alertDestinationId }) => ({ path: [alertDestinationId] }),

  listRequests: () => ({}),
  streamRequests: () => ({}),
  exportRequests: () => ({}),
  getRequest: ({ requestId }) => ({ path: [requestId] }),
  getRequestLimits: ({ requestId }) => ({ path: [requestId] }),
  getLive: () => ({}),
  getStatsSummary: () => ({}),
  getTimeseries: () => ({ query: { metric: 'requests' } }),
  getSpend: () => ({}),
  getEndpointStats: () => ({}),
  getLaneStats: () => ({}),
  getApiKeyStats: () => ({}),
  getFailures: () => ({}),
  getShowback: () => ({ query: { group_by: 'model' } }),
  exportShowback: () => ({ query: { format: 'focus' } }),
  getMeteredUsage: () => ({
    query: { from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' },
  }),
  getWaitDistribution: ({ laneId }) => ({ query: { lane_id: laneId } }),

  getCapabilities: () => ({}),
  exportConfig: () => ({}),
  planConfig: () => ({ body: { config: { version: 1 } } }),
  applyConfig: () => ({ body: { config: { version: 1 } } }),
  whatIf: () => ({ body: { config: { version: 1 } } }),

  getLiveness: () => ({}),
  getReadiness: () => ({}),
  getHealth: () => ({}),
  getMetrics: () => ({}),
  getOpenApi: () => ({}),
  getReferenceIndex: () => ({}),
  getErrorPage: () => ({ path: ['not_found'] }),
};

/** The path and the query of an example. */
export function addressOf({ path }: Pick<Route, 'path'>, { path: values = [], query }: Sample): string {
  const left = [...values];
  const filled = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(left.shift() ?? ''));
  return query === undefined ? filled : `${filled}?${new URLSearchParams(query).toString()}`;
}
