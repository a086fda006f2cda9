import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usageSearch } from './usage-search.ts';

test('valid parameters stay in the URL, and defaults are left out', () => {
  const asked = { metric: 'wait_ms_p95', by: 'lane', bucket: 'hour', key: 'k' };
  assert.deepEqual(usageSearch({ ...asked, range: '7d' }), asked);
  assert.deepEqual(usageSearch({ metric: 'cost_micros', by: 'model' }), {});
});

test('invalid parameters are dropped', () => {
  assert.deepEqual(usageSearch({ metric: 'toString', by: 'colour', bucket: 'year' }), {});
  assert.deepEqual(usageSearch({ metric: 'errors', by: 'state' }), { metric: 'errors' });
  assert.deepEqual(usageSearch({ metric: 'requests', by: 'state' }), { metric: 'requests', by: 'state' });
  assert.deepEqual(usageSearch({ metric: 'errors', by: 'service' }), { metric: 'errors' });
});
