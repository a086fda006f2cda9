import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextPriceAtMs, pricingAt } from './load-pricing.ts';

const at = (day: number) => new Date(Date.UTC(2026, 10, day)).toISOString();
const policy = {
  input_cost_micros_per_1m_tokens: 1,
  output_cost_micros_per_1m_tokens: 2,
  cached_input_cost_micros_per_1m_tokens: null,
  cache_write_5m_cost_micros_per_1m_tokens: 3,
  flat_request_cost_micros: 4,
  variants: [{ service_tier: 'flex', above_input_tokens: 9, output_cost_micros_per_1m_tokens: 5 }],
  scheduled: [
    { valid_from: at(20), input_cost_micros_per_1m_tokens: 30, output_cost_micros_per_1m_tokens: 40 },
    { valid_from: at(10), input_cost_micros_per_1m_tokens: 10, output_cost_micros_per_1m_tokens: 20 },
  ],
};
const inputAt = (day: number, ms = 0) =>
  pricingAt(policy, Date.UTC(2026, 10, day) + ms).inputCostMicrosPer1mTokens;

describe('the prices in force', () => {
  it('are those of the policy, with its variants, until a date', () => {
    assert.deepEqual(pricingAt(policy, Date.UTC(2026, 10, 1)), {
      inputCostMicrosPer1mTokens: 1,
      outputCostMicrosPer1mTokens: 2,
      cachedInputCostMicrosPer1mTokens: null,
      cacheWrite5mCostMicrosPer1mTokens: 3,
      flatRequestCostMicros: 4,
      variants: [{ serviceTier: 'flex', aboveInputTokens: 9, outputCostMicrosPer1mTokens: 5 }],
    });
  });
  it('are all others from that date on, in whatever order they are listed', () => {
    assert.deepEqual([inputAt(10, -1), inputAt(10), inputAt(20, -1), inputAt(20)], [1, 10, 10, 30]);
    assert.equal(pricingAt(policy, Date.UTC(2026, 10, 10)).variants, undefined);
  });
  it('change next at the first date ahead', () => {
    const next = (day: number) => nextPriceAtMs([policy, { scheduled: [] }], Date.UTC(2026, 10, day));
    assert.deepEqual([next(1), next(10), next(20)], [Date.parse(at(10)), Date.parse(at(20)), null]);
  });
});
