import assert from 'node:assert/strict';
import { test } from 'node:test';
import { priceBodyOf, priceDraftOf } from './price-draft.ts';

test('prices are typed in dollars, and a part that is left empty has none of its own', () => {
  const draft = { ...priceDraftOf(undefined), input: '3', output: '15', cacheWrite1h: '6.000001' };
  assert.deepEqual(priceBodyOf(draft), {
    input_cost_micros_per_1m_tokens: 3_000_000,
    output_cost_micros_per_1m_tokens: 15_000_000,
    cached_input_cost_micros_per_1m_tokens: null,
    cache_write_5m_cost_micros_per_1m_tokens: null,
    cache_write_1h_cost_micros_per_1m_tokens: 6_000_001,
    reasoning_cost_micros_per_1m_tokens: null,
    audio_input_cost_micros_per_1m_tokens: null,
    audio_output_cost_micros_per_1m_tokens: null,
    image_input_cost_micros_per_1m_tokens: null,
    image_output_cost_micros_per_1m_tokens: null,
    flat_request_cost_micros: 0,
  });
  assert.equal(priceBodyOf({ ...draft, reasoning: 'much' }), null);
});
