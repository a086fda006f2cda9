import type { PricingPolicy } from '@relay/contract';
import { ownerOf } from '../resources/ownership.ts';
import type { Row } from '../resources/rows.ts';

/** One dollar per token, the maximum of the table, which keeps sums exact. */
const PRICE_MICROS_MAX = 1_000_000_000_000;
export const INTEGER_MAX = {
  input_cost_micros_per_1m_tokens: PRICE_MICROS_MAX,
  output_cost_micros_per_1m_tokens: PRICE_MICROS_MAX,
  cached_input_cost_micros_per_1m_tokens: PRICE_MICROS_MAX,
  flat_request_cost_micros: PRICE_MICROS_MAX,
};

export function toPricingPolicy(row: Row<'pricing_policies'>): PricingPolicy {
  return {
    id: row.id,
    endpoint_id: row.endpoint_id,
    currency: row.currency,
    input_cost_micros_per_1m_tokens: row.input_cost_micros_per_1m_tokens,
    output_cost_micros_per_1m_tokens: row.output_cost_micros_per_1m_tokens,
    cached_input_cost_micros_per_1m_tokens: row.cached_input_cost_micros_per_1m_tokens,
    flat_request_cost_micros: row.flat_request_cost_micros,
    source: row.source,
    ...ownerOf(row),
  };
}
