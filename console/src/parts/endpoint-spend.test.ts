import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costPerRequest } from './endpoint-spend.ts';

const stats = (metered: number, unpriced: number, micros: number | null) => ({
  metered_requests: metered,
  unpriced_requests: unpriced,
  cost_micros: micros,
});

test('a request costs the spend over the requests whose cost is known', () => {
  assert.equal(costPerRequest(stats(4, 0, 200)), 50);
  assert.equal(costPerRequest(stats(5, 3, 200)), 100);
  assert.equal(costPerRequest(stats(4, 0, 0)), 0);
  assert.equal(costPerRequest(stats(4, 4, null)), null);
  assert.equal(costPerRequest(stats(0, 0, 0)), null);
  assert.equal(costPerRequest(undefined), null);
});
