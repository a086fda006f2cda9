import Type, { type Static } from 'typebox';
import { closed, Id, Micros, nullable, oneOf, optional } from '../schema.ts';
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

export const PricingPolicyUpdate = closed('PricingPolicyUpdate', {
  input_cost_micros_per_1m_tokens: optional(Micros),
  output_cost_micros_per_1m_tokens: optional(Micros),
  ...extra,
});
export type PricingPolicyUpdate = Static<typeof PricingPolicyUpdate>;
