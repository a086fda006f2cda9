import type { PricingPolicy } from '@relay/contract';
import { demandStorable } from '../../domain/storable-fields.ts';
import { entityTag } from '../resources/entity-tag.ts';
import { ownerOf } from '../resources/ownership.ts';
import type { Row } from '../resources/rows.ts';

/** One dollar per token, the maximum of the table, which keeps sums exact. */
const PRICE_MICROS_MAX = 1_000_000_000_000;
export const INTEGER_MAX = {
  input_cost_micros_per_1m_tokens: PRICE_MICROS_MAX,
  output_cost_micros_per_1m_tokens: PRICE_MICROS_MAX,
  cached_input_cost_micros_per_1m_tokens: PRICE_MICROS_MAX,
  cache_write_5m_cost_micros_per_1m_tokens: PRICE_MICROS_MAX,
  cache_write_1h_cost_micros_per_1m_tokens: PRICE_MICROS_MAX,
  audio_input_cost_micros_per_1m_tokens: PRICE_MICROS_MAX,
  image_input_cost_micros_per_1m_tokens: PRICE_MICROS_MAX,
  reasoning_cost_micros_per_1m_tokens: PRICE_MICROS_MAX,
  audio_output_cost_micros_per_1m_tokens: PRICE_MICROS_MAX,
  image_output_cost_micros_per_1m_tokens: PRICE_MICROS_MAX,
  flat_request_cost_micros: PRICE_MICROS_MAX,
};

export type SentPrices = Partial<Pick<PricingPolicy, keyof typeof INTEGER_MAX | 'variants' | 'scheduled'>>;

/** Prices that the table can hold, also those in lists; by the name of the field. */
export function demandPrices({ variants = [], scheduled = [], ...prices }: SentPrices): void {
  demandStorable(prices, INTEGER_MAX);
  for (const [place, variant] of variants.entries()) demandIn(`variants[${place}]`, variant);
  for (const [place, later] of scheduled.entries()) {
    demandIn(`scheduled[${place}]`, later);
    for (const [inner, variant] of (later.variants ?? []).entries())
      demandIn(`scheduled[${place}].variants[${inner}]`, variant);
  }
}

function demandIn(where: string, prices: object): void {
  const given = Object.entries(prices).map(([name, value]) => [`${where}.${name}`, value]);
  const most = Object.entries(INTEGER_MAX).map(([name, max]) => [`${where}.${name}`, max]);
  demandStorable(Object.fromEntries(given), Object.fromEntries(most));
}

/** JSON columns are written as text. What was not sent stays as it is. */
export function toColumns<T extends Pick<SentPrices, 'variants' | 'scheduled'>>({
  variants,
  scheduled,
  ...others
}: T) {
  return {
    ...others,
    ...(variants !== undefined && { variants: JSON.stringify(variants) }),
    ...(scheduled !== undefined && { scheduled: JSON.stringify(scheduled) }),
  };
}

export function toPricingPolicy(row: Row<'pricing_policies'>): PricingPolicy {
  return {
    id: row.id,
    endpoint_id: row.endpoint_id,
    currency: row.currency,
    ...pricesOf(row),
    source: row.source,
    as_of: (row.as_of ?? row.updated_at).toISOString(),
    ...ownerOf(row),
    etag: entityTag(row),
  };
}

export function pricesOf(row: Row<'pricing_policies'>): Required<SentPrices> {
  return {
    input_cost_micros_per_1m_tokens: row.input_cost_micros_per_1m_tokens,
    output_cost_micros_per_1m_tokens: row.output_cost_micros_per_1m_tokens,
    cached_input_cost_micros_per_1m_tokens: row.cached_input_cost_micros_per_1m_tokens,
    cache_write_5m_cost_micros_per_1m_tokens: row.cache_write_5m_cost_micros_per_1m_tokens,
    cache_write_1h_cost_micros_per_1m_tokens: row.cache_write_1h_cost_micros_per_1m_tokens,
    audio_input_cost_micros_per_1m_tokens: row.audio_input_cost_micros_per_1m_tokens,
    image_input_cost_micros_per_1m_tokens: row.image_input_cost_micros_per_1m_tokens,
    reasoning_cost_micros_per_1m_tokens: row.reasoning_cost_micros_per_1m_tokens,
    audio_output_cost_micros_per_1m_tokens: row.audio_output_cost_micros_per_1m_tokens,
    image_output_cost_micros_per_1m_tokens: row.image_output_cost_micros_per_1m_tokens,
    flat_request_cost_micros: row.flat_request_cost_micros,
    variants: row.variants,
    scheduled: row.scheduled,
  };
}
