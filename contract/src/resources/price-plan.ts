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
  description: '`catalog` is the list that comes with Relay; it is sent without entries.',
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
    provider: text({ minLength: 1, maxLength: 200, description: 'As the list calls it.' }),
    preset_slug: nullable(Type.String({ maxLength: 100 }), {
      description: 'The preset of the provider; null where Relay has none.',
    }),
    host: nullable(Type.String({ maxLength: 255 }), {
      description: 'The host of the provider’s API, where the list names it.',
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
      'One model of a price list. Null: the list prices that kind of token, but not of this model. A price that is left out stays as it is.',
  },
);
export type PriceListEntry = Static<typeof PriceListEntry>;

const list = {
  source: ListSource,
  as_of: optional(Timestamp),
  entries: optional(
    Type.Array(PriceListEntry, {
      maxItems: 2_000,
      description: 'Those for the upstream models of endpoints; others are ignored.',
    }),
  ),
};

export const PricePlanRequest = closed('PricePlanRequest', list);
export type PricePlanRequest = Static<typeof PricePlanRequest>;

export const PriceApplyRequest = closed('PriceApplyRequest', {
  ...list,
  plan_hash: Type.String({ description: 'Of the plan that was approved.' }),
  accept: optional(
    Type.Array(Id, {
      maxItems: 2_000,
      description: 'Endpoints whose prices are applied although they are held back.',
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
      '`removed`: the price came from this list, which no longer has it; Relay keeps it. `ambiguous`: several entries fit, with other prices; nothing changes. `unlisted`: the list has no price for it.',
  }),
  held_back: nullable(oneOf(['factor', 'zero']), {
    description:
      'A price that moves by more than ten times, or to zero, is applied only where it is accepted.',
  }),
  factor: nullable(Type.Number({ minimum: 0 }), {
    description: 'The largest move of a price, new by old; null where no price moves.',
  }),
  managed_by_file: flag({
    description: 'The configuration file manages it, so an apply leaves it as it is.',
  }),
  current_source: nullable(Type.String()),
  current_as_of: nullable(Timestamp),
  listed_as: Type.Array(Type.String(), { description: 'Provider and model of the entries that fit.' }),
  changes: Type.Array(closed('PriceChange', { field: Type.String(), before: Value, after: Value })),
  context_window: nullable(integer(), {
    description: 'Of the list. An apply sets it at an endpoint that has none.',
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
      summary: 'Set the prices of a plan; prices held back only if accepted',
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
