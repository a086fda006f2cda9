import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dollarsToMicros, durationMs, fieldName, inWords } from './units.ts';

describe('units of the command line', () => {
  it('read durations', () => {
    const read = { '500ms': 500, '30s': 30_000, '2m': 120_000, '2 min': 120_000, '1h': 3_600_000, '0': 0 };
    for (const [text, ms] of Object.entries(read)) assert.equal(durationMs(text), ms, text);
    for (const text of ['5', 'soon', '-1s', '1.5s', '']) assert.throws(() => durationMs(text), /30s/, text);
  });

  it('read dollars exactly', () => {
    const read = {
      '50': 50_000_000,
      $50: 50_000_000,
      '$1,250.75': 1_250_750_000,
      '0.000001': 1,
      '0.1': 100_000,
    };
    for (const [text, micros] of Object.entries(read)) assert.equal(dollarsToMicros(text), micros, text);
    for (const text of ['-1', '1e3', '50 EUR', '0.0000001', '', '$', '5$0', '0,075'])
      assert.throws(() => dollarsToMicros(text), /dollars/, text);
  });

  it('name fields without their unit', () => {
    assert.deepEqual(fieldName('default_max_wait_ms'), { name: 'wait_budget', unit: 'ms' });
    assert.deepEqual(fieldName('timeout_ms'), { name: 'timeout', unit: 'ms' });
    assert.deepEqual(fieldName('cached_input_cost_micros_per_1m_tokens'), {
      name: 'cached_input_price',
      unit: 'micros_per_1m_tokens',
    });
    assert.deepEqual(fieldName('upstream_model'), { name: 'upstream_model', unit: null });
  });

  it('write amounts for people', () => {
    assert.equal(inWords(200_000, 'ms'), '3 min 20 s');
    assert.equal(inWords(2_500_000, 'micros_per_1m_tokens'), '$2.50 / 1M tokens');
    assert.equal(inWords(12, null), '12');
  });
});
