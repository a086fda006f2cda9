import type { RouteId } from '@relay/contract';
import type { Call, Handler, Handlers } from '../http/call.ts';
import { asStoreError } from '../store/store-error.ts';
import { capabilityHandlers } from './capabilities/routes.ts';
import { credentialHandlers } from './credentials/routes.ts';
import type { ManagementDeps } from './deps.ts';
import { endpointHandlers } from './endpoints/routes.ts';
import { laneHandlers } from './lanes/routes.ts';
import { limitPolicyHandlers } from './limit-policies/routes.ts';
import { limitUsageHandlers } from './limit-usage/routes.ts';
import { membershipHandlers } from './memberships/routes.ts';
import { pricingPolicyHandlers } from './pricing-policies/routes.ts';
import { providerHandlers } from './providers/routes.ts';
import { routingExplanationHandlers } from './routing-explanation/routes.ts';

/** Every management route this room serves; those of the contract that are not here answer 501. */
export function createManagementHandlers(deps: ManagementDeps): Handlers {
  const resources: Handlers = {
    ...providerHandlers(deps),
    ...credentialHandlers(deps),
    ...endpointHandlers(deps),
    ...laneHandlers(deps),
    ...membershipHandlers(deps),
    ...pricingPolicyHandlers(deps),
    ...limitPolicyHandlers(deps),
    ...limitUsageHandlers(deps),
    ...routingExplanationHandlers(deps),
  };
  return withStoreErrors({ ...resources, ...capabilityHandlers(deps, resources) });
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
