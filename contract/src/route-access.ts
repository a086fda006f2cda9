import type { RouteId } from './route-tables.ts';
import type { Scope } from './scopes.ts';

/** What a caller needs. `any_key`: a valid key or session; `session_only`: a browser session, never a key. */
export type Access =
  | { readonly scope: Scope }
  /** Any one of these is enough; the answer is narrowed to what the held ones may see. */
  | { readonly scopes: readonly Scope[] }
  /** All of these are needed, because the route reaches over several areas. */
  | { readonly everyScope: readonly Scope[] }
  | 'any_key'
  | 'session_only'
  | 'public';

const readConfiguration: Access = {
  everyScope: [
    'relay:providers:read',
    'relay:routing:read',
    'relay:guardrails:read',
    'relay:limits:read:organization',
  ],
};

/** A file that has to do with guardrails needs `relay:guardrails:manage` as well; whether it does, the handler sees. */
const manageConfiguration: Access = {
  everyScope: ['relay:providers:manage', 'relay:routing:manage', 'relay:limits:manage'],
};

/**
 * Route → what it needs: the one place. A route that tests a connection needs the permission to save it,
 * because a test sends a stored credential to an address.
 */
export const routeAccess: Readonly<Record<RouteId, Access>> = {
  createChatCompletion: { scope: 'relay:request' },
  createResponse: { scope: 'relay:request' },
  createEmbeddings: { scope: 'relay:request' },
  listModels: { scope: 'relay:request' },

  getAccount: 'any_key',
  updateAccount: { scope: 'cloud:account:manage' },
  updatePreferences: { scope: 'cloud:account:manage' },
  listApiKeys: { scope: 'cloud:account:manage' },
  createApiKey: { scope: 'cloud:account:manage' },
  listApiKeyScopes: { scope: 'cloud:account:manage' },
  renameApiKey: { scope: 'cloud:account:manage' },
  revokeApiKey: { scope: 'cloud:account:manage' },
  getBillingHistory: { scope: 'cloud:billing:read' },
  getUsageStatement: { scope: 'cloud:billing:read' },
  /** Whoever can sign it is Stripe. */
  receiveStripeEvent: 'public',
  createSession: 'public',
  getSession: 'session_only',
  /** Asked before anybody has signed in. */
  getSignInMethods: 'public',
  updateSession: 'session_only',
  deleteSession: 'session_only',
  signUp: 'public',
  acceptInvitation: 'public',
  startSso: 'public',
  finishSso: 'public',
  listSessions: 'session_only',
  revokeSession: 'session_only',
  changePassword: 'session_only',
  changeEmail: 'session_only',
  startTotp: 'session_only',
  confirmTotp: 'session_only',
  removeTotp: 'session_only',

  listMembers: { scope: 'cloud:members:read' },
  updateMember: { scope: 'cloud:members:manage' },
  removeMember: { scope: 'cloud:members:manage' },
  listInvitations: { scope: 'cloud:members:read' },
  createInvitation: { scope: 'cloud:members:manage' },
  deleteInvitation: { scope: 'cloud:members:manage' },
  listOrgApiKeys: { scope: 'cloud:security:manage' },
  createOrgApiKey: { scope: 'cloud:members:manage' },
  revokeOrgApiKey: { scope: 'cloud:security:manage' },
  listAuditLog: { scope: 'cloud:audit:read' },

  listProviders: { scope: 'relay:providers:read' },
  createProvider: { scope: 'relay:providers:manage' },
  getProvider: { scope: 'relay:providers:read' },
  updateProvider: { scope: 'relay:providers:manage' },
  deleteProvider: { scope: 'relay:providers:manage' },
  testProvider: { scope: 'relay:providers:manage' },
  listCredentials: { scope: 'relay:providers:read' },
  createCredential: { scope: 'relay:providers:manage' },
  updateCredential: { scope: 'relay:providers:manage' },
  deleteCredential: { scope: 'relay:providers:manage' },
  listPricingPolicies: { scope: 'relay:providers:read' },
  createPricingPolicy: { scope: 'relay:providers:manage' },
  updatePricingPolicy: { scope: 'relay:providers:manage' },
  deletePricingPolicy: { scope: 'relay:providers:manage' },

  listEndpoints: { scope: 'relay:routing:read' },
  createEndpoint: { scope: 'relay:routing:manage' },
  getEndpoint: { scope: 'relay:routing:read' },
  updateEndpoint: { scope: 'relay:routing:manage' },
  deleteEndpoint: { scope: 'relay:routing:manage' },
  testEndpoint: { scope: 'relay:routing:manage' },
  listLanes: { scope: 'relay:routing:read' },
  createLane: { scope: 'relay:routing:manage' },
  updateLane: { scope: 'relay:routing:manage' },
  deleteLane: { scope: 'relay:routing:manage' },
  listMemberships: { scope: 'relay:routing:read' },
  createMembership: { scope: 'relay:routing:manage' },
  updateMembership: { scope: 'relay:routing:manage' },
  deleteMembership: { scope: 'relay:routing:manage' },
  explainRouting: { scope: 'relay:routing:read' },

  listGuardrails: { scope: 'relay:guardrails:read' },
  createGuardrail: { scope: 'relay:guardrails:manage' },
  getGuardrail: { scope: 'relay:guardrails:read' },
  updateGuardrail: { scope: 'relay:guardrails:manage' },
  deleteGuardrail: { scope: 'relay:guardrails:manage' },
  listGuardrailBindings: { scope: 'relay:guardrails:read' },
  replaceGuardrailBindings: { scope: 'relay:guardrails:manage' },
  testGuardrail: { scope: 'relay:guardrails:manage' },
  getGuardrailStats: { scope: 'relay:guardrails:read' },
  getGuardrailTotals: { scope: 'relay:guardrails:read' },
  listGuardrailPresets: { scope: 'relay:guardrails:read' },

  listLimitPolicies: { scope: 'relay:limits:read:organization' },
  createLimitPolicy: { scope: 'relay:limits:manage' },
  updateLimitPolicy: { scope: 'relay:limits:manage' },
  deleteLimitPolicy: { scope: 'relay:limits:manage' },
  /** Everyone sees their own budgets; `relay:limits:read:organization` shows all of them. */
  listUserLimitPolicies: 'any_key',
  upsertUserLimitPolicy: { scope: 'relay:limits:manage' },
  deleteUserLimitPolicy: { scope: 'relay:limits:manage' },
  listApiKeyLimitPolicies: 'any_key',
  upsertApiKeyLimitPolicy: { scope: 'relay:limits:manage' },
  deleteApiKeyLimitPolicy: { scope: 'relay:limits:manage' },
  listLimitUsage: { scopes: ['relay:limits:read:organization', 'relay:usage:read'] },

  /** `relay:usage:read` shows own traffic; `relay:usage:read:organization` shows everyone’s. */
  listRequests: { scope: 'relay:usage:read' },
  streamRequests: { scope: 'relay:usage:read' },
  exportRequests: { scope: 'relay:usage:read' },
  getRequest: { scope: 'relay:usage:read' },
  getLive: { scope: 'relay:usage:read' },
  getStatsSummary: { scope: 'relay:usage:read' },
  getTimeseries: { scope: 'relay:usage:read' },
  getWaitDistribution: { scope: 'relay:usage:read' },

  getCapabilities: 'any_key',
  exportConfig: readConfiguration,
  planConfig: readConfiguration,
  applyConfig: manageConfiguration,

  getLiveness: 'public',
  getReadiness: 'public',
  getHealth: 'public',
  /** Of keys and sessions it knows nothing: its own token opens it, or being on the same machine. */
  getMetrics: 'public',
  getOpenApi: 'public',
  getErrorPage: 'public',
};

/** Whether these effective scopes open the route. It says nothing about whether the caller is authenticated. */
export function scopesSatisfy(access: Access, held: ReadonlySet<Scope>): boolean {
  if (typeof access === 'string') return true;
  if ('scope' in access) return held.has(access.scope);
  if ('scopes' in access) return access.scopes.some((scope) => held.has(scope));
  return access.everyScope.every((scope) => held.has(scope));
}

/** The scopes an access names, for error messages and the reference. */
export function scopesOf(access: Access): readonly Scope[] {
  if (typeof access === 'string') return [];
  if ('scope' in access) return [access.scope];
  return 'scopes' in access ? access.scopes : access.everyScope;
}
