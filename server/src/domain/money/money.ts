import type { Pricing } from '../snapshot.ts';
import type { Usage } from './usage.ts';

const TOKENS_PER_PRICE = 1_000_000n;

/**
 * The cost of a request by the configured price, in whole micro-USD. Computed in integers and rounded up once, so that no sum of
 * charges is below the sum of the exact prices.
 */
export function costMicros(pricing: Pricing, usage: Usage): number {
  if (usage.free === true) return 0;
  const cachedPrice = pricing.cachedInputCostMicrosPer1mTokens ?? pricing.inputCostMicrosPer1mTokens;
  const uncachedTokens = usage.inputTokens - usage.cachedInputTokens;
  const scaled =
    BigInt(uncachedTokens) * BigInt(pricing.inputCostMicrosPer1mTokens) +
    BigInt(usage.cachedInputTokens) * BigInt(cachedPrice) +
    BigInt(usage.outputTokens) * BigInt(pricing.outputCostMicrosPer1mTokens);
  const perTokens = (scaled + TOKENS_PER_PRICE - 1n) / TOKENS_PER_PRICE;
  // Any price may be configured, and a sum of costs must stay exact.
  return Math.min(Number.MAX_SAFE_INTEGER, Number(perTokens) + pricing.flatRequestCostMicros);
}
