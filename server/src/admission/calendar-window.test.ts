import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextWindowMs, resetTimeMs, windowStartMs } from './calendar-window.ts';

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

test('a calendar window resets exactly at its boundary, even if the given time is a little early or late', () => {
  const resets = (period: Parameters<typeof resetTimeMs>[0], about: string) => {
    const atMs = resetTimeMs(period, Date.parse(about));
    return atMs === null ? null : new Date(atMs).toISOString();
  };
  assert.equal(resets('day', '2026-11-18T23:59:59.988Z'), '2026-11-19T00:00:00.000Z');
  assert.equal(resets('day', '2026-11-19T00:00:00.000Z'), '2026-11-19T00:00:00.000Z');
  assert.equal(resets('hour', '2026-11-19T14:00:01.200Z'), '2026-11-19T14:00:00.000Z');
  assert.equal(resets('week', '2026-11-22T23:59:58.000Z'), '2026-11-23T00:00:00.000Z');
  assert.equal(resets('month', '2026-11-30T23:59:59.999Z'), '2026-12-01T00:00:00.000Z');
  assert.equal(resets('minute', '2026-11-19T14:00:01.200Z'), '2026-11-19T14:00:01.200Z');
  assert.equal(resets('none', '2026-11-19T14:00:01.200Z'), null);
});
