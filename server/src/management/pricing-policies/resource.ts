import { PricingPolicyUpdate } from '@relay/contract';
import { defineResource } from '../resources/resource.ts';
import { pricePlanHandlers } from './plan-routes.ts';
import { pricingPolicy } from './queries.ts';
import { pricingPolicyHandlers } from './routes.ts';
import { pricingPolicySection } from './section.ts';
import { toPricingPolicy } from './wire.ts';

export const resources = [
  defineResource({
    ...pricingPolicy,
    parents: [{ table: 'endpoints', column: 'endpoint_id', governs: 'endpoint' }],
    feature: ['pricing', 'listPricingPolicies'],
    change: { body: PricingPolicyUpdate, wire: (_deps, _db, row) => toPricingPolicy(row) },
    section: pricingPolicySection,
    handlers: (deps, writes) => ({ ...pricingPolicyHandlers(deps, writes), ...pricePlanHandlers(deps) }),
  }),
];
