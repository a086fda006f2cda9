import type { PricingPolicy } from '@relay/contract';
import { microsOf } from '@relay/contract/words';
import { dollarsOf } from '../forms/dollars.ts';

/** Prices of parts of the input and the output. Left empty, a part costs what the rest costs. */
export const PART_PRICES = {
  cached: 'cached_input_cost_micros_per_1m_tokens',
  cacheWrite5m: 'cache_write_5m_cost_micros_per_1m_tokens',
  cacheWrite1h: 'cache_write_1h_cost_micros_per_1m_tokens',
  reasoning: 'reasoning_cost_micros_per_1m_tokens',
  audioInput: 'audio_input_cost_micros_per_1m_tokens',
  audioOutput: 'audio_output_cost_micros_per_1m_tokens',
  imageInput: 'image_input_cost_micros_per_1m_tokens',
  imageOutput: 'image_output_cost_micros_per_1m_tokens',
} as const satisfies Record<string, keyof PricingPolicy>;
export type PartPrice = keyof typeof PART_PRICES;
const PARTS = Object.keys(PART_PRICES) as PartPrice[];
/** Those that most endpoints do without. */
export const MORE_PARTS = PARTS.filter((part): part is Exclude<PartPrice, 'cached'> => part !== 'cached');

/** The prices as they are typed, in dollars. */
export type PriceDraft = Readonly<Record<'input' | 'output' | 'flat' | PartPrice, string>>;

export function priceDraftOf(price: PricingPolicy | undefined): PriceDraft {
  const parts = PARTS.map((part) => [part, dollarsOf(price?.[PART_PRICES[part]] ?? null)]);
  return {
    ...(Object.fromEntries(parts) as Record<PartPrice, string>),
    input: dollarsOf(price?.input_cost_micros_per_1m_tokens ?? null),
    output: dollarsOf(price?.output_cost_micros_per_1m_tokens ?? null),
    flat: dollarsOf(price?.flat_request_cost_micros ?? 0),
  };
}

/** Each price in micro-dollars; undefined where the text is not an amount. */
export function microsIn(draft: PriceDraft) {
  const parts = PARTS.map((part) => [part, draft[part].trim() === '' ? null : microsOf(draft[part])]);
  return {
    ...(Object.fromEntries(parts) as Record<PartPrice, number | null | undefined>),
    input: microsOf(draft.input),
    output: microsOf(draft.output),
    flat: microsOf(draft.flat.trim() === '' ? '0' : draft.flat),
  };
}

/** The body to send; null while a price is invalid. */
export function priceBodyOf(draft: PriceDraft) {
  const { input, output, flat, ...parts } = microsIn(draft);
  if (input === undefined || output === undefined || flat === undefined) return null;
  if (PARTS.some((part) => parts[part] === undefined)) return null;
  const partPrices = PARTS.map((part) => [PART_PRICES[part], parts[part]]);
  return {
    ...(Object.fromEntries(partPrices) as Record<(typeof PART_PRICES)[PartPrice], number | null>),
    input_cost_micros_per_1m_tokens: input,
    output_cost_micros_per_1m_tokens: output,
    flat_request_cost_micros: flat,
  };
}
