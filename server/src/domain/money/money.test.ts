import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { costMicros } from './money.ts';

describe('cost', () => {
  const pricing = {
    inputCostMicrosPer1mTokens: 2_500_000,
    outputCostMicrosPer1mTokens: 10_000_000,
    cachedInputCostMicrosPer1mTokens: 1_250_000,
    flatRequestCostMicros: 7,
  };
  it('adds input, cached input, output and the flat price, rounded up once', () => {
    assert.equal(costMicros(pricing, { inputTokens: 3, outputTokens: 1, cachedInputTokens: 1 }), 24);
  });
  it('takes the input price for cached input without a price of its own', () => {
    const plain = { ...pricing, cachedInputCostMicrosPer1mTokens: null, flatRequestCostMicros: 0 };
    assert.equal(costMicros(plain, { inputTokens: 4, outputTokens: 0, cachedInputTokens: 4 }), 10);
  });
  it('never falls below the exact price and never exceeds it by a whole micro', () => {
    const tokens = fc.integer({ min: 0, max: 10_000_000 });
    fc.assert(
      fc.property(tokens, tokens, fc.integer({ min: 0, max: 1_000_000_000 }), (input, output, price) => {
        const flat = { ...pricing, inputCostMicrosPer1mTokens: price, flatRequestCostMicros: 0 };
        const cost = BigInt(
          costMicros(flat, { inputTokens: input, outputTokens: output, cachedInputTokens: 0 }),
        );
        const exact = BigInt(input) * BigInt(price) + BigInt(output) * 10_000_000n;
        assert.ok(cost * 1_000_000n >= exact && (cost - 1n) * 1_000_000n < exact);
      }),
    );
  });
});
