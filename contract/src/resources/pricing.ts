import Type, { type Static, type TOptional, type TProperties, type TSchema } from 'typebox';
import { slugOf, without } from '../config-item.ts';
import type { ResourceDefinition } from '../resource-definition.ts';
import { changeErrors, createErrors, noContent } from '../route-definition.ts';
import {
  changeOf,
  closed,
  EntityTag,
  Id,
  integer,
  Micros,
  nullable,
  oneOf,
  optional,
  PageQuery,
  params,
  Timestamp,
} from '../schema.ts';
import { ManagedBy } from './values.ts';

const Currency = Type.Literal('USD', { default: 'USD' });
const Source = oneOf(['catalog', 'manual', 'litellm', 'models_dev'], {
  default: 'manual',
  description:
    'Price source. `catalog`: Relay’s price list, the default for known models. `litellm` and `models_dev`: an imported list. `manual`: prices you set. Prices sent without `litellm` or `models_dev` make it `manual`; `catalog` without prices restores those of Relay’s price list.',
});

/** Prices of parts of the input and the output. */
export const partPrices = {
  cached_input_cost_micros_per_1m_tokens: part('Null: the same price as other input.'),
  cache_write_5m_cost_micros_per_1m_tokens: part(
    'Input that the provider writes to a 5-minute cache. Null: the same price as other input.',
  ),
  cache_write_1h_cost_micros_per_1m_tokens: part(
    'Input that the provider writes to a 1-hour cache. Null: the same price as a 5-minute write.',
  ),
  audio_input_cost_micros_per_1m_tokens: part('Null: the same price as other input.'),
  image_input_cost_micros_per_1m_tokens: part('Null: the same price as other input.'),
  reasoning_cost_micros_per_1m_tokens: part('Null: the same price as other output.'),
  audio_output_cost_micros_per_1m_tokens: part('Null: the same price as other output.'),
  image_output_cost_micros_per_1m_tokens: part('Null: the same price as other output.'),
};

/** Every price of a policy: for a million tokens of a kind, or for a request. */
export type PriceName =
  | 'input_cost_micros_per_1m_tokens'
  | 'output_cost_micros_per_1m_tokens'
  | keyof typeof partPrices
  | 'flat_request_cost_micros';

function describedTimestamp() {
  return Type.String({
    format: 'date-time',
    description: 'The date of the price list that the prices come from, or when they were set.',
  });
}

function part(description: string) {
  return nullable(Micros, { description });
}

function each<P extends TProperties, S extends TSchema>(properties: P, schema: S) {
  return Object.fromEntries(Object.keys(properties).map((name) => [name, optional(schema)])) as {
    [K in keyof P]: TOptional<S>;
  };
}

function optionalEach<P extends TProperties>(properties: P) {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, optional(schema)]),
  ) as unknown as { [K in keyof P]: TOptional<P[K]> };
}

export const PriceVariant = closed(
  'PriceVariant',
  {
    service_tier: optional(
      Type.String({
        pattern: '^[a-z0-9_.-]{1,50}$',
        description:
          'For requests that the provider reports as served in this tier, such as `priority`, `flex` or `batch`.',
      }),
    ),
    above_input_tokens: optional(
      integer({
        description:
          'For requests with more input tokens than this. These prices then apply to all of their tokens.',
      }),
    ),
    input_cost_micros_per_1m_tokens: optional(Micros),
    output_cost_micros_per_1m_tokens: optional(Micros),
    ...each(partPrices, Micros),
    flat_request_cost_micros: optional(Micros),
  },
  {
    description:
      'Different prices for some requests. Omitted prices stay the same; if several variants apply, later ones take precedence.',
  },
);
const Variants = Type.Array(PriceVariant, { maxItems: 50 });

export const ScheduledPrices = closed(
  'ScheduledPrices',
  {
    valid_from: Timestamp,
    input_cost_micros_per_1m_tokens: Micros,
    output_cost_micros_per_1m_tokens: Micros,
    ...optionalEach(partPrices),
    flat_request_cost_micros: optional(Micros),
    variants: optional(Variants),
  },
  {
    description:
      'All prices for requests that arrive at or after `valid_from`. Earlier requests keep their prices.',
  },
);
const Scheduled = Type.Array(ScheduledPrices, { maxItems: 20 });

export const PricingPolicy = closed('PricingPolicy', {
  id: Id,
  endpoint_id: Id,
  currency: Currency,
  input_cost_micros_per_1m_tokens: Micros,
  output_cost_micros_per_1m_tokens: Micros,
  ...partPrices,
  flat_request_cost_micros: Micros,
  variants: Variants,
  scheduled: Scheduled,
  source: Source,
  as_of: describedTimestamp(),
  managed_by: optional(ManagedBy),
  etag: EntityTag,
});
export type PricingPolicy = Static<typeof PricingPolicy>;

const extra = {
  currency: optional(Currency),
  ...optionalEach(partPrices),
  flat_request_cost_micros: optional(Micros),
  variants: optional(Variants),
  scheduled: optional(Scheduled),
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
      errors: [...createErrors, 'managed_by_file'],
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
