import type { Handlers } from '../http/call.ts';
import { asStoreError } from '../store/store-error.ts';
import { accountHandlers } from './account/routes.ts';
import { apiKeyHandlers } from './api-keys/routes.ts';
import { auditLogHandlers } from './audit-log/routes.ts';
import { billingHandlers } from './billing/routes.ts';
import { capabilityHandlers } from './capabilities/routes.ts';
import { configFileHandlers } from './config-file/routes.ts';
import { connectionTestHandlers } from './connection-tests/routes.ts';
import { invitationHandlers } from './invitations/routes.ts';
import { liveHandlers } from './live/routes.ts';
import { memberHandlers } from './members/routes.ts';
import { orgApiKeyHandlers } from './org-api-keys/routes.ts';
import { organizationHandlers } from './organization/routes.ts';
import { dependentsOf, resourceFeatures, resourceHandlers } from './registry/derived.ts';
import { requestHandlers } from './requests/routes.ts';
import type { ManagementDeps } from './resources/deps.ts';
import { withIdempotency } from './resources/idempotency.ts';
import { mapHandlers } from './resources/map-handlers.ts';
import { routingExplanationHandlers } from './routing-explanation/routes.ts';
import { statsHandlers } from './stats/routes.ts';
import { whatIfHandlers } from './what-if/routes.ts';

/** All management handlers. Routes of the contract without a handler answer 501. */
export function createManagementHandlers(deps: ManagementDeps): Handlers {
  const handlers: Handlers = {
    ...resourceHandlers(deps),
    ...accountHandlers(deps),
    ...apiKeyHandlers(deps),
    ...orgApiKeyHandlers(deps),
    ...organizationHandlers(deps),
    ...memberHandlers(deps, dependentsOf('organization_members')),
    ...invitationHandlers(deps),
    ...auditLogHandlers(deps),
    ...billingHandlers(deps),
    ...liveHandlers(deps),
    ...requestHandlers(deps),
    ...statsHandlers({ ...deps, ofOrganization: deps.statisticsOf }),
    ...routingExplanationHandlers(deps),
    ...connectionTestHandlers(deps),
    ...configFileHandlers(deps),
    ...whatIfHandlers(deps),
  };
  const served = { ...handlers, ...capabilityHandlers(deps, resourceFeatures, handlers) };
  return withStoreErrors(withIdempotency(deps, served));
}

/** Turns an unavailable database into 503 for every handler, whatever it was doing. */
function withStoreErrors(handlers: Handlers): Handlers {
  return mapHandlers(handlers, (handler) => async (call) => {
    try {
      return await handler(call);
    } catch (error) {
      throw asStoreError(error);
    }
  });
}
