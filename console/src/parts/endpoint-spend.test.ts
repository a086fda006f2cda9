import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costPerRequest, knownSpend } from './endpoint-spend.ts';

const stats = (requests: number, micros: number) => ({ requests, cost_micros: micros });

test('nothing spent is nothing with a price, and unknown without one', () => {
  assert.equal(knownSpend(stats(4, 0), true), 0);
  assert.equal(knownSpend(stats(4, 0), false), null);
  assert.equal(knownSpend(undefined, true), null);
});

test('what was spent before the price was removed is known', () => {
  assert.equal(knownSpend(stats(4, 200), false), 200);
});

test('a request costs the spend over all requests, and nothing is known without requests', () => {
  assert.equal(costPerRequest(stats(4, 200), true), 50);
  assert.equal(costPerRequest(stats(4, 0), true), 0);
  assert.equal(costPerRequest(stats(4, 0), false), null);
  assert.equal(costPerRequest(stats(0, 0), true), null);
  assert.equal(costPerRequest(undefined, true), null);
});
