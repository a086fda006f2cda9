import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costPerRequest, knownSpend } from './endpoint-spend.ts';

const stats = (metered: number, unpriced: number, micros: number) => ({
  metered_requests: metered,
  unpriced_requests: unpriced,
  cost_micros: micros,
});

test('nothing spent is nothing with a price, and unknown without one', () => {
  assert.equal(knownSpend(stats(4, 0, 0)), 0);
  assert.equal(knownSpend(stats(4, 4, 0)), null);
  assert.equal(knownSpend(stats(0, 0, 0)), 0);
  assert.equal(knownSpend(undefined), null);
});

test('what was spent before the price was removed is known', () => {
  assert.equal(knownSpend(stats(4, 3, 200)), 200);
});

test('a request costs the spend over the requests whose cost is known', () => {
  assert.equal(costPerRequest(stats(4, 0, 200)), 50);
  assert.equal(costPerRequest(stats(5, 3, 200)), 100);
  assert.equal(costPerRequest(stats(4, 0, 0)), 0);
  assert.equal(costPerRequest(stats(4, 4, 0)), null);
  assert.equal(costPerRequest(stats(0, 0, 0)), null);
  assert.equal(costPerRequest(undefined), null);
});
