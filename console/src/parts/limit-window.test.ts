import assert from 'node:assert/strict';
import { test } from 'node:test';
import { windowAt } from './limit-window.ts';

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
