import fc from 'fast-check';
import type { Prices, PriceVariant } from '../snapshot.ts';
import type { Usage } from './usage.ts';

const price = fc.integer({ min: 0, max: 200_000_000 });
const part = fc.option(price);
const TIERS = ['priority', 'flex'];

/** For tests: any prices of one policy. */
export const prices: fc.Arbitrary<Prices> = fc.record({
  inputCostMicrosPer1mTokens: price,
  outputCostMicrosPer1mTokens: price,
  cachedInputCostMicrosPer1mTokens: part,
  cacheWrite5mCostMicrosPer1mTokens: part,
  cacheWrite1hCostMicrosPer1mTokens: part,
  audioInputCostMicrosPer1mTokens: part,
  imageInputCostMicrosPer1mTokens: part,
  reasoningCostMicrosPer1mTokens: part,
  audioOutputCostMicrosPer1mTokens: part,
  imageOutputCostMicrosPer1mTokens: part,
  flatRequestCostMicros: price,
});
export const variants: fc.Arbitrary<PriceVariant[]> = fc.array(
  fc
    .tuple(
      prices,
      fc.option(fc.constantFrom(...TIERS)),
      fc.option(fc.integer({ min: 0, max: 300_000 })),
      fc.boolean(),
    )
    .map(([set, serviceTier, aboveInputTokens, hasFlat]) => {
      const { flatRequestCostMicros, ...rest } = set;
      return {
        ...rest,
        ...(hasFlat && { flatRequestCostMicros }),
        ...(serviceTier !== null && { serviceTier }),
        ...(aboveInputTokens !== null && { aboveInputTokens }),
      };
    }),
  { maxLength: 4 },
);
export const count = fc.integer({ min: 0, max: 400_000 });
export const usages: fc.Arbitrary<Usage> = fc
  .record({
    inputTokens: count,
    outputTokens: count,
    cachedInputTokens: count,
    cacheWrite5mTokens: count,
    cacheWrite1hTokens: count,
    audioInputTokens: count,
    imageInputTokens: count,
    reasoningTokens: count,
    audioOutputTokens: count,
    imageOutputTokens: count,
    tier: fc.option(fc.constantFrom(...TIERS)),
  })
  .map(({ tier, ...rest }) => ({ ...rest, ...(tier !== null && { serviceTier: tier }) }));
