import type { RouteId } from '@relay/contract';
import type { Handlers } from '../../http/call.ts';
import { hasAccounts } from '../api-keys/accounts.ts';
import type { ManagementDeps } from '../deps.ts';

/** A feature is there when the route that opens it is served. */
const FEATURE_ROUTES: Readonly<Record<string, RouteId>> = {
  providers: 'listProviders',
  endpoints: 'listEndpoints',
  lanes: 'listLanes',
  pricing: 'listPricingPolicies',
  routing_explanation: 'explainRouting',
  connection_tests: 'testProvider',
  guardrails: 'listGuardrails',
  resource_limit_policies: 'listLimitPolicies',
  user_limit_policies: 'listUserLimitPolicies',
  api_key_limit_policies: 'listApiKeyLimitPolicies',
  request_log: 'listRequests',
  usage_series: 'getTimeseries',
  audit_log: 'listAuditLog',
  configuration_file: 'applyConfig',
  api_keys: 'listApiKeys',
  members: 'listMembers',
  billing: 'getBillingHistory',
};

/** Their routes are served in every mode, and in hosted mode the answer is a refusal. */
const SELF_HOSTED_ONLY = new Set(['resource_limit_policies']);

export function capabilityHandlers(
  { deployment }: Pick<ManagementDeps, 'deployment'>,
  served: Handlers,
): Handlers {
  const features = Object.fromEntries(
    Object.entries(FEATURE_ROUTES).map(([feature, route]) => {
      const refused = deployment.mode === 'hosted' && SELF_HOSTED_ONLY.has(feature);
      return [feature, served[route] !== undefined && !refused];
    }),
  );
  return {
    getCapabilities: async (call) => ({
      mode: deployment.mode,
      accounts: hasAccounts(deployment),
      version: deployment.version,
      features,
      scopes: [...call.caller.scopes].sort(),
    }),
  };
}
