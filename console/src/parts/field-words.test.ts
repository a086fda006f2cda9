import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldName, fieldValue } from './field-words.ts';

test('a field has the word of its form, also where two forms differ; an unknown field has the API’s name', () => {
  assert.equal(fieldName('default_max_wait_ms', 'lane'), 'Wait budget');
  assert.equal(fieldName('priority', 'lane'), 'Priority');
  assert.equal(fieldName('priority', 'guardrail'), 'Order');
  assert.equal(fieldName('paint', 'robot'), 'paint');
});

test('a value has the unit of its form', () => {
  assert.equal(fieldValue('default_max_wait_ms', 300), '300 ms');
  assert.equal(fieldValue('default_max_wait_ms', 5_000), '5 s');
  assert.equal(fieldValue('limit_value', 26_100_000, { state: { metric: 'spend' } }), '$26.10');
  assert.equal(fieldValue('limit_value', 40_000, { state: { metric: 'tokens' } }), '40,000');
  assert.equal(fieldValue('input_cost_micros_per_1m_tokens', 2_500_000), '$2.50 / 1M tokens');
  assert.equal(fieldValue('max_request_bytes', 1_048_576), '1 MiB');
  assert.equal(fieldValue('enabled', false), 'no');
  assert.equal(fieldValue('priority', 'batch'), 'Batch');
  assert.equal(fieldValue('priority', 100), '100');
  assert.equal(fieldValue('description', ''), 'none');
  assert.equal(fieldValue('alert_at', [50, 90]), '50%, 90%');
  assert.equal(fieldValue('scopes', []), 'none');
  const bindings = [
    { target_type: 'global', target_id: null },
    { target_type: 'lane', target_id: 'l1' },
  ];
  assert.equal(fieldValue('bindings', bindings, { nameOf: () => 'Summaries' }), 'All requests, Summaries');
  assert.equal(fieldValue('provider_id', 'p1', { nameOf: () => 'OpenAI' }), 'OpenAI');
});
