import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LimitUsage } from '@relay/contract';
import { runsOutAt, windowAt } from './limit-window.ts';

const NOON_MS = Date.UTC(2026, 2, 31, 12);

test('calendar windows are in UTC, with the real length of months', () => {
  assert.deepEqual(windowAt('month', Date.UTC(2026, 1, 10)), {
    startMs: Date.UTC(2026, 1, 1),
    endMs: Date.UTC(2026, 2, 1),
  });
  // A Sunday, and the Monday after it.
  assert.deepEqual(windowAt('week', Date.UTC(2026, 10, 15, 23)), {
    startMs: Date.UTC(2026, 10, 9),
    endMs: Date.UTC(2026, 10, 16),
  });
  assert.equal(windowAt('week', Date.UTC(2026, 10, 16)).startMs, Date.UTC(2026, 10, 16));
  assert.equal(windowAt('day', NOON_MS).endMs, Date.UTC(2026, 3, 1));
  assert.equal(windowAt('hour', NOON_MS).startMs, NOON_MS);
});

function after(used: number, reserved: number, period: LimitUsage['period'] = 'day'): number | null {
  const usage = { period, limit: 100, used, reserved, remaining: 100 - used - reserved } as LimitUsage;
  const atMs = runsOutAt(usage, NOON_MS);
  return atMs === null ? null : atMs - NOON_MS;
}

test('a limit runs out at the present rate if that is before the reset', () => {
  // 80 in 12 hours: the remaining 20 last 3 hours.
  assert.equal(after(80, 0), 3 * 3_600_000);
  assert.equal(after(50, 0), null);
  assert.equal(after(0, 0), null);
  assert.equal(after(90, 0, 'minute'), null);
  assert.equal(runsOutAt(null, NOON_MS), null);
});

test('what is reserved counts for the rate, as it does for what is left', () => {
  assert.equal(after(40, 40), 3 * 3_600_000);
  assert.equal(after(0, 80), 3 * 3_600_000);
});
