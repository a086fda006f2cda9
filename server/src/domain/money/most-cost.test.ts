import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Prices, PriceVariant } from '../snapshot.ts';
import { costMicros } from './money.ts';
import { mostCostMicros } from './most-cost.ts';
import type { Usage } from './usage.ts';

const price = fc.integer({ min: 0, max: 200_000_000 });
const part = fc.option(price);
const TIERS = ['priority', 'flex'];

const prices: fc.Arbitrary<Prices> = fc.record({
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
const variants: fc.Arbitrary<PriceVariant[]> = fc.array(
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
const count = fc.integer({ min: 0, max: 400_000 });
const usages: fc.Arbitrary<Usage> = fc
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

describe('the most that a request can cost', () => {
  it('is never less than what any usage within the bounds costs, at whatever prices', () => {
    fc.assert(
      fc.property(prices, variants, usages, count, count, (base, some, usage, moreInput, moreOutput) => {
        const pricing = { ...base, variants: some };
        const bounds = {
          inputTokens: usage.inputTokens + moreInput,
          outputTokens: usage.outputTokens + moreOutput,
        };
        assert.ok(costMicros(pricing, usage) <= mostCostMicros(pricing, bounds));
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes the dearest tier, length and kind of token that may apply, and no other', () => {
    const base = {
      inputCostMicrosPer1mTokens: 1_000_000,
      outputCostMicrosPer1mTokens: 4_000_000,
      cachedInputCostMicrosPer1mTokens: 100_000,
      cacheWrite1hCostMicrosPer1mTokens: 2_000_000,
      flatRequestCostMicros: 5,
    };
    const variant = { outputCostMicrosPer1mTokens: 8_000_000 };
    const bounds = { inputTokens: 100, outputTokens: 10 };
    assert.equal(mostCostMicros(base, bounds), 245);
    const long = { ...base, variants: [{ ...variant, aboveInputTokens: 100 }] };
    assert.equal(mostCostMicros(long, bounds), 245);
    assert.equal(mostCostMicros(long, { ...bounds, inputTokens: 101 }), 287);
    const tier = { ...base, variants: [{ ...variant, serviceTier: 'priority' }] };
    assert.equal(mostCostMicros(tier, bounds), 285);
  });
});
