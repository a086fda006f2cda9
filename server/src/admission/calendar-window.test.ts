import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextWindowMs, windowStartMs } from './calendar-window.ts';

const DAY_MS = 86_400_000;

test('a week begins on Monday at 00:00 UTC, also over the turn of a year', () => {
  const mondayMs = Date.UTC(2026, 11, 28);
  for (const afterMs of [0, 1, 3 * DAY_MS, 7 * DAY_MS - 1]) {
    assert.equal(windowStartMs('week', mondayMs + afterMs), mondayMs);
    assert.equal(nextWindowMs('week', mondayMs + afterMs), Date.UTC(2027, 0, 4));
  }
  assert.equal(windowStartMs('week', mondayMs - 1), mondayMs - 7 * DAY_MS);
});

test('every calendar window contains its moment and ends where the next one begins', () => {
  for (const period of ['hour', 'day', 'week', 'month'] as const) {
    for (let atMs = Date.UTC(2027, 11, 20); atMs < Date.UTC(2028, 3, 3); atMs += 7_100_000) {
      const [startMs, endMs] = [windowStartMs(period, atMs), nextWindowMs(period, atMs)];
      assert.ok(startMs <= atMs && atMs < endMs);
      assert.equal(windowStartMs(period, endMs), endMs);
      assert.equal(windowStartMs(period, endMs - 1), startMs);
      if (period === 'week') assert.equal(new Date(startMs).getUTCDay(), 1);
    }
  }
});
