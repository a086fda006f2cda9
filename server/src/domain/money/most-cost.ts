import type { Prices, PriceVariant, Pricing } from '../snapshot.ts';
import { costMicros } from './money.ts';

interface TokensAtMost {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

type PriceName = Exclude<keyof Prices, 'flatRequestCostMicros'>;

const INPUT_PRICES: readonly PriceName[] = [
  'inputCostMicrosPer1mTokens',
  'cachedInputCostMicrosPer1mTokens',
  'cacheWrite5mCostMicrosPer1mTokens',
  'cacheWrite1hCostMicrosPer1mTokens',
  'audioInputCostMicrosPer1mTokens',
  'imageInputCostMicrosPer1mTokens',
];
const OUTPUT_PRICES: readonly PriceName[] = [
  'outputCostMicrosPer1mTokens',
  'reasoningCostMicrosPer1mTokens',
  'audioOutputCostMicrosPer1mTokens',
  'imageOutputCostMicrosPer1mTokens',
];

/** The prices at which no request with this much input can cost more: which kinds of tokens and which tier it uses is known only afterwards. */
export function highestPrices(pricing: Pricing, inputTokensMax: number): Prices {
  const { variants = [] } = pricing;
  const applying = variants.filter(
    ({ aboveInputTokens }) => aboveInputTokens === undefined || inputTokensMax > aboveInputTokens,
  );
  const sets: readonly (Prices | PriceVariant)[] = [pricing, ...applying];
  const highest = (names: readonly PriceName[]) =>
    Math.max(...sets.flatMap((set) => names.map((name) => set[name] ?? 0)));
  return {
    inputCostMicrosPer1mTokens: highest(INPUT_PRICES),
    outputCostMicrosPer1mTokens: highest(OUTPUT_PRICES),
    cachedInputCostMicrosPer1mTokens: null,
    flatRequestCostMicros: Math.max(...sets.map((set) => set.flatRequestCostMicros ?? 0)),
  };
}

/** What a request costs at most that uses at most these tokens, in whole micro-USD, rounded up. */
export function mostCostMicros(pricing: Pricing, { inputTokens, outputTokens }: TokensAtMost): number {
  return costMicros(highestPrices(pricing, inputTokens), { inputTokens, outputTokens, cachedInputTokens: 0 });
}
