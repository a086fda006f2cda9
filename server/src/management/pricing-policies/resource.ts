import { defineResource } from '../resources/resource.ts';
import { pricingPolicy } from './queries.ts';
import { pricingPolicyHandlers } from './routes.ts';
import { pricingPolicySection } from './section.ts';

export const resources = [
  defineResource({
    ...pricingPolicy,
    parents: [{ table: 'endpoints', column: 'endpoint_id' }],
    feature: ['pricing', 'listPricingPolicies'],
    section: pricingPolicySection,
    handlers: pricingPolicyHandlers,
  }),
];
