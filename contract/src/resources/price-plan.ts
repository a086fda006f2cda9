import Type, { type Static } from 'typebox';
import type { ResourceDefinition } from '../resource-definition.ts';
import {
  closed,
  flag,
  Id,
  integer,
  Micros,
  nullable,
  oneOf,
  optional,
  query,
  Timestamp,
  text,
} from '../schema.ts';
import { PriceVariant, partPrices } from './pricing.ts';

const ListSource = oneOf(['litellm', 'models_dev', 'catalog'], {
  description: '`catalog` is Relay’s own price list; send it without entries.',
});

const listedParts = Object.fromEntries(
  Object.keys(partPrices).map((name) => [name, optional(nullable(Micros))]),
) as unknown as { [K in keyof typeof partPrices]: ReturnType<typeof listedPart> };

function listedPart() {
  return optional(nullable(Micros));
}

export const PriceListEntry = closed(
  'PriceListEntry',
  {
    provider: text({ minLength: 1, maxLength: 200, description: 'The provider’s name in the list.' }),
    preset_slug: nullable(Type.String({ maxLength: 100 }), {
      description: 'The provider’s preset; null if Relay has none.',
    }),
    host: nullable(Type.String({ maxLength: 255 }), {
      description: 'The host of the provider’s API, if the list names it.',
    }),
    model: text({ minLength: 1, maxLength: 300 }),
    input_cost_micros_per_1m_tokens: Micros,
    output_cost_micros_per_1m_tokens: Micros,
    ...listedParts,
    flat_request_cost_micros: optional(Micros),
    variants: optional(Type.Array(PriceVariant, { maxItems: 50 })),
    context_window: optional(nullable(integer({ minimum: 1 }))),
    output_tokens_max: optional(nullable(integer({ minimum: 1 }))),
    capabilities: optional(Type.Array(Type.String({ maxLength: 50 }), { maxItems: 20 })),
  },
  {
    description:
      'One model in a price list. Null: the list has prices for that kind of token, but not for this model. An omitted price does not change.',
  },
);
export type PriceListEntry = Static<typeof PriceListEntry>;

const list = {
  source: ListSource,
  as_of: optional(Timestamp),
  entries: optional(
    Type.Array(PriceListEntry, {
      maxItems: 2_000,
      description: 'Entries for the upstream models of your endpoints. Relay ignores others.',
    }),
  ),
};

export const PricePlanRequest = closed('PricePlanRequest', list);
export type PricePlanRequest = Static<typeof PricePlanRequest>;

export const PriceApplyRequest = closed('PriceApplyRequest', {
  ...list,
  plan_hash: Type.String({ description: 'The `plan_hash` of the plan that you approved.' }),
  accept: optional(
    Type.Array(Id, {
      maxItems: 2_000,
      description: 'Endpoints whose held-back prices to apply.',
    }),
  ),
});
export type PriceApplyRequest = Static<typeof PriceApplyRequest>;

const Value = Type.Unknown();

export const PricePlanRow = closed('PricePlanRow', {
  endpoint_id: Id,
  endpoint_name: Type.String(),
  provider_name: Type.String(),
  upstream_model: Type.String(),
  action: oneOf(['add', 'change', 'same', 'removed', 'ambiguous', 'unlisted'], {
    description:
      '`removed`: the price came from this list, which no longer has it; Relay keeps it. `ambiguous`: several entries match, with different prices; nothing changes. `unlisted`: the list has no price for it.',
  }),
  held_back: nullable(oneOf(['factor', 'zero']), {
    description:
      'Why Relay holds the price back: it changes by more than a factor of 10, or to zero. Relay applies it only if you accept it.',
  }),
  factor: nullable(Type.Number({ minimum: 0 }), {
    description: 'The largest price change, as the new price divided by the old; null if no price changes.',
  }),
  managed_by_file: flag({
    description: 'Whether the configuration file manages the prices. An apply then leaves them unchanged.',
  }),
  current_source: nullable(Type.String()),
  current_as_of: nullable(Timestamp),
  listed_as: Type.Array(Type.String(), { description: 'Provider and model of the entries that match.' }),
  changes: Type.Array(closed('PriceChange', { field: Type.String(), before: Value, after: Value })),
  context_window: nullable(integer(), {
    description: 'The context window in the list. An apply sets it on an endpoint that has none.',
  }),
  output_tokens_max: nullable(integer()),
  capabilities: Type.Array(Type.String()),
});
export type PricePlanRow = Static<typeof PricePlanRow>;

export const PricePlan = closed('PricePlan', {
  source: ListSource,
  as_of: Timestamp,
  plan_hash: Type.String(),
  rows: Type.Array(PricePlanRow),
});
export type PricePlan = Static<typeof PricePlan>;

export const PriceApplied = closed('PriceApplied', {
  applied: Type.Array(Id, { description: 'Endpoints whose prices were set.' }),
  held_back: Type.Array(Id),
});
export type PriceApplied = Static<typeof PriceApplied>;

export const ModelFacts = closed('ModelFacts', {
  context_window: nullable(integer()),
  input_cost_micros_per_1m_tokens: nullable(Micros),
  output_cost_micros_per_1m_tokens: nullable(Micros),
});
export type ModelFacts = Static<typeof ModelFacts>;

const shared = { plane: 'management', tag: 'Pricing' } as const;
const read = { scope: 'relay:providers:read' } as const;
const manage = { scope: 'relay:providers:manage' } as const;

export const pricePlanResource = {
  order: 61,
  routes: {
    planPrices: {
      ...shared,
      method: 'POST',
      path: '/api/relay/prices/plan',
      access: read,
      summary: 'Compare the prices of endpoints with a public price list',
      body: PricePlanRequest,
      success: { status: 200, schema: PricePlan },
    },
    applyPrices: {
      ...shared,
      method: 'POST',
      path: '/api/relay/prices/apply',
      access: manage,
      summary: 'Apply a price plan; held-back prices only if accepted',
      body: PriceApplyRequest,
      success: { status: 200, schema: PriceApplied },
      errors: ['version_conflict'],
    },
    getModelFacts: {
      ...shared,
      method: 'GET',
      path: '/api/relay/prices/model',
      access: read,
      summary: 'Read the price of a model in Relay’s price list',
      query: query({ provider_id: Id, upstream_model: Type.String({ minLength: 1, maxLength: 200 }) }),
      success: { status: 200, schema: ModelFacts },
      errors: ['not_found'],
    },
  },
} as const satisfies ResourceDefinition;
