import type { Handlers } from '../../http/call.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import type { Feature } from '../resources/resource.ts';

/** Features that are not configuration resources. */
const FEATURES: readonly Feature[] = [
  { name: 'routing_explanation', route: 'explainRouting', isSelfHostedOnly: false },
  { name: 'connection_tests', route: 'testProvider', isSelfHostedOnly: false },
  { name: 'request_log', route: 'listRequests', isSelfHostedOnly: false },
  { name: 'usage_series', route: 'getTimeseries', isSelfHostedOnly: false },
  { name: 'audit_log', route: 'listAuditLog', isSelfHostedOnly: false },
  { name: 'configuration_file', route: 'applyConfig', isSelfHostedOnly: false },
  { name: 'api_keys', route: 'listApiKeys', isSelfHostedOnly: false },
  { name: 'members', route: 'listMembers', isSelfHostedOnly: false },
  { name: 'billing', route: 'getBillingHistory', isSelfHostedOnly: false },
];

export function capabilityHandlers(
  { deployment }: Pick<ManagementDeps, 'deployment'>,
  ofResources: readonly Feature[],
  served: Handlers,
): Handlers {
  const features = Object.fromEntries(
    [...ofResources, ...FEATURES].map(({ name, route, isSelfHostedOnly }) => [
      name,
      // In hosted mode these routes exist but reject every call.
      served[route] !== undefined && !(isSelfHostedOnly && deployment.mode === 'hosted'),
    ]),
  );
  return {
    getCapabilities: async (call) => ({
      mode: deployment.mode,
      accounts: deployment.accounts,
      version: deployment.version,
      features,
      scopes: [...call.caller.scopes].sort(),
    }),
  };
}
