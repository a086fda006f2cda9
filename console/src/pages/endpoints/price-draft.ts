import type { PricingPolicy } from '@relay/contract';
import { dollarsOf, microsOf } from '../../forms/dollars.ts';

/** The prices as they are typed, in dollars. */
export type PriceDraft = Readonly<Record<'input' | 'output' | 'cached' | 'flat', string>>;

export function priceDraftOf(price: PricingPolicy | undefined): PriceDraft {
  return {
    input: dollarsOf(price?.input_cost_micros_per_1m_tokens ?? null),
    output: dollarsOf(price?.output_cost_micros_per_1m_tokens ?? null),
    cached: dollarsOf(price?.cached_input_cost_micros_per_1m_tokens ?? null),
    flat: dollarsOf(price?.flat_request_cost_micros ?? 0),
  };
}

/** Each price in micro-dollars; undefined where the text is not an amount. */
export function microsIn({ input, output, cached, flat }: PriceDraft) {
  return {
    input: microsOf(input),
    output: microsOf(output),
    // Without a price of their own, cached tokens cost as much as others.
    cached: cached.trim() === '' ? null : microsOf(cached),
    flat: microsOf(flat.trim() === '' ? '0' : flat),
  };
}

/** The body to send; null while a price is invalid. */
export function priceBodyOf(draft: PriceDraft) {
  const { input, output, cached, flat } = microsIn(draft);
  if (input === undefined || output === undefined || cached === undefined || flat === undefined) return null;
  return {
    input_cost_micros_per_1m_tokens: input,
    output_cost_micros_per_1m_tokens: output,
    cached_input_cost_micros_per_1m_tokens: cached,
    flat_request_cost_micros: flat,
  };
}
