import Type, { type Static } from 'typebox';
import { slugOf, without } from '../config-item.ts';
import type { ResourceDefinition } from '../resource-definition.ts';
import { changeErrors, createErrors, noContent } from '../route-definition.ts';
import { changeOf, closed, Id, Micros, nullable, oneOf, optional, PageQuery, params } from '../schema.ts';
import { ManagedBy } from './values.ts';

const Currency = Type.Literal('USD', { default: 'USD' });
const Source = oneOf(['catalog', 'manual'], {
  default: 'manual',
  description:
    '`catalog`: from the public price list that comes with Relay, as every endpoint begins whose provider and model it knows. Prices that are sent make it `manual`; `catalog` without prices goes back to the list.',
});
const CachedInput = nullable(Micros, { description: 'Null: cached input costs what other input costs.' });

export const PricingPolicy = closed('PricingPolicy', {
  id: Id,
  endpoint_id: Id,
  currency: Currency,
  input_cost_micros_per_1m_tokens: Micros,
  output_cost_micros_per_1m_tokens: Micros,
  cached_input_cost_micros_per_1m_tokens: CachedInput,
  flat_request_cost_micros: Micros,
  source: Source,
  managed_by: optional(ManagedBy),
});
export type PricingPolicy = Static<typeof PricingPolicy>;

const extra = {
  currency: optional(Currency),
  cached_input_cost_micros_per_1m_tokens: optional(CachedInput),
  flat_request_cost_micros: optional(Micros),
  source: optional(Source),
};

export const PricingPolicyCreate = closed('PricingPolicyCreate', {
  endpoint_id: Id,
  input_cost_micros_per_1m_tokens: Micros,
  output_cost_micros_per_1m_tokens: Micros,
  ...extra,
});
export type PricingPolicyCreate = Static<typeof PricingPolicyCreate>;

export const PricingPolicyUpdate = changeOf('PricingPolicyUpdate', PricingPolicy, {
  input_cost_micros_per_1m_tokens: optional(Micros),
  output_cost_micros_per_1m_tokens: optional(Micros),
  ...extra,
});
export type PricingPolicyUpdate = Static<typeof PricingPolicyUpdate>;

export const ConfigPricingPolicy = closed('ConfigPricingPolicy', {
  endpoint: slugOf('the endpoint'),
  ...without(PricingPolicyCreate.properties, 'endpoint_id'),
});
export type ConfigPricingPolicy = Static<typeof ConfigPricingPolicy>;

const shared = { plane: 'management', tag: 'Pricing' } as const;
const read = { scope: 'relay:providers:read' } as const;
const manage = { scope: 'relay:providers:manage' } as const;

export const pricingPolicyResource = {
  order: 60,
  routes: {
    listPricingPolicies: {
      ...shared,
      method: 'GET',
      path: '/api/relay/pricing-policies',
      access: read,
      summary: 'List prices',
      query: PageQuery,
      success: { status: 200, schema: Type.Array(PricingPolicy) },
    },
    createPricingPolicy: {
      ...shared,
      method: 'POST',
      path: '/api/relay/pricing-policies',
      access: manage,
      summary: 'Set the prices of an endpoint',
      body: PricingPolicyCreate,
      success: { status: 201, schema: PricingPolicy },
      errors: createErrors,
    },
    updatePricingPolicy: {
      ...shared,
      method: 'PUT',
      path: '/api/relay/pricing-policies/{pricing_policy_id}',
      access: manage,
      summary: 'Change the prices of an endpoint',
      params: params('pricing_policy_id'),
      body: PricingPolicyUpdate,
      success: { status: 200, schema: PricingPolicy },
      errors: changeErrors,
    },
    deletePricingPolicy: {
      ...shared,
      method: 'DELETE',
      path: '/api/relay/pricing-policies/{pricing_policy_id}',
      access: manage,
      summary: 'Delete the prices of an endpoint',
      params: params('pricing_policy_id'),
      success: noContent,
      errors: changeErrors,
    },
  },
  section: {
    name: 'pricing_policies',
    noun: 'pricing_policy',
    item: ConfigPricingPolicy,
    scopes: { read: read.scope, manage: manage.scope },
  },
} as const satisfies ResourceDefinition;
