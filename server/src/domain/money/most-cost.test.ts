import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { costMicros } from './money.ts';
import { mostCostMicros } from './most-cost.ts';
import { count, prices, usages, variants } from './pricing.fixture.ts';

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
