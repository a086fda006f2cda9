import type { RouteId } from '@relay/contract';
import type { Call, Handler, Handlers } from '../http/call.ts';
import { asStoreError } from '../store/store-error.ts';
import { accountHandlers } from './account/routes.ts';
import { apiKeyLimitPolicyHandlers } from './api-key-limit-policies/routes.ts';
import { apiKeyHandlers } from './api-keys/routes.ts';
import { auditLogHandlers } from './audit-log/routes.ts';
import { billingHandlers } from './billing/routes.ts';
import { capabilityHandlers } from './capabilities/routes.ts';
import { configFileHandlers } from './config-file/routes.ts';
import { connectionTestHandlers } from './connection-tests/routes.ts';
import { credentialHandlers } from './credentials/routes.ts';
import type { ManagementDeps } from './deps.ts';
import { endpointHandlers } from './endpoints/routes.ts';
import { guardrailHandlers } from './guardrails/routes.ts';
import { withIdempotency } from './idempotency.ts';
import { invitationHandlers } from './invitations/routes.ts';
import { laneHandlers } from './lanes/routes.ts';
import { limitPolicyHandlers } from './limit-policies/routes.ts';
import { limitUsageHandlers } from './limit-usage/routes.ts';
import { liveHandlers } from './live/routes.ts';
import { memberHandlers } from './members/routes.ts';
import { membershipHandlers } from './memberships/routes.ts';
import { orgApiKeyHandlers } from './org-api-keys/routes.ts';
import { pricingPolicyHandlers } from './pricing-policies/routes.ts';
import { providerHandlers } from './providers/routes.ts';
import { requestHandlers } from './requests/routes.ts';
import { routingExplanationHandlers } from './routing-explanation/routes.ts';
import { statsHandlers } from './stats/routes.ts';
import { userLimitPolicyHandlers } from './user-limit-policies/routes.ts';

/** Every management route this room serves; those of the contract that are not here answer 501. */
export function createManagementHandlers(deps: ManagementDeps): Handlers {
  const resources: Handlers = {
    ...accountHandlers(deps),
    ...apiKeyHandlers(deps),
    ...orgApiKeyHandlers(deps),
    ...memberHandlers(deps),
    ...invitationHandlers(deps),
    ...auditLogHandlers(deps),
    ...billingHandlers(deps),
    ...providerHandlers(deps),
    ...credentialHandlers(deps),
    ...endpointHandlers(deps),
    ...laneHandlers(deps),
    ...membershipHandlers(deps),
    ...guardrailHandlers(deps),
    ...pricingPolicyHandlers(deps),
    ...limitPolicyHandlers(deps),
    ...userLimitPolicyHandlers(deps),
    ...apiKeyLimitPolicyHandlers(deps),
    ...limitUsageHandlers(deps),
    ...liveHandlers(deps),
    ...requestHandlers(deps),
    ...statsHandlers(deps),
    ...routingExplanationHandlers(deps),
    ...connectionTestHandlers(deps),
    ...configFileHandlers(deps),
  };
  const served = { ...resources, ...capabilityHandlers(deps, resources) };
  return withStoreErrors(withIdempotency(deps, served));
}

/** The one place where "the database cannot answer" becomes 503, whatever a handler was doing. */
function withStoreErrors(handlers: Handlers): Handlers {
  const guarded = Object.entries(handlers).map(([id, handler]) => {
    const inner = handler as unknown as Handler<RouteId>;
    const guardedHandler = async (call: Call<RouteId>) => {
      try {
        return await inner(call);
      } catch (error) {
        throw asStoreError(error);
      }
    };
    return [id, guardedHandler];
  });
  return Object.fromEntries(guarded) as Handlers;
}
