import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthCounts } from './health-counts.ts';

test('all are healthy only when requests have shown it of each', () => {
  assert.equal(healthCounts(['healthy', 'healthy']), 'All 2 endpoints healthy');
  assert.equal(healthCounts(['healthy', 'unknown']), '1 idle · 1 healthy');
  assert.equal(healthCounts(['unknown', 'unknown']), '2 idle');
});

test('the worst is said first', () => {
  const states = ['healthy', 'rate_limited', 'unknown', 'down', 'degraded', 'down'] as const;
  assert.equal(healthCounts(states), '2 down · 1 degraded · 1 rate-limited · 1 idle · 1 healthy');
});
