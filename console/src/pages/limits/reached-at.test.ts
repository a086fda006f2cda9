import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reachedAt, windowUseOf } from './reached-at.ts';
import { reachedWords } from './reached-words.ts';

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 10, 1);
const END_MS = Date.UTC(2026, 11, 1);
const NOW_MS = START_MS + 15 * DAY_MS;
/** $15 in the first 15 days of November. */
const use = { startMs: START_MS, endMs: END_MS, used: 15_000_000 };

test('a value that is not saved yet is reached when the server’s forecast would say so', () => {
  assert.deepEqual(reachedAt(use, 20_000_000, NOW_MS), { kind: 'at', atMs: START_MS + 20 * DAY_MS });
  assert.deepEqual(reachedAt(use, 40_000_000, NOW_MS), { kind: 'never' });
  assert.deepEqual(reachedAt(use, 15_000_000, NOW_MS), { kind: 'already' });
  const early = { ...use, used: 1_000_000 };
  assert.deepEqual(reachedAt(early, 40_000_000, START_MS + DAY_MS), { kind: 'early' });
});

test('reservations count toward a window, and short windows have no forecast', () => {
  const usage = { used: 10, reserved: 5 };
  assert.deepEqual(windowUseOf({ ...usage, period: 'month' }, NOW_MS), {
    startMs: START_MS,
    endMs: END_MS,
    used: 15,
  });
  assert.equal(windowUseOf({ ...usage, period: 'minute' }, NOW_MS), null);
  assert.equal(windowUseOf({ ...usage, period: 'none' }, NOW_MS), null);
});

test('the effect of another value is told with the current one', () => {
  const told = (limit: number, saved: number | null) =>
    reachedWords({ use, metric: 'spend', limit, saved, nowMs: NOW_MS });
  assert.equal(
    told(25_000_000, 20_000_000),
    'At this rate, reached Nov 26, 00:00 UTC instead of Nov 21, 00:00 UTC.',
  );
  assert.equal(
    told(40_000_000, 20_000_000),
    'At this rate, not reached before it resets Dec 1, 00:00 UTC. The current limit is reached Nov 21, 00:00 UTC.',
  );
  assert.equal(
    told(20_000_000, 40_000_000),
    'At this rate, reached Nov 21, 00:00 UTC. The current limit is not reached before it resets Dec 1, 00:00 UTC.',
  );
  assert.equal(told(20_000_000, null), 'At this rate, reached Nov 21, 00:00 UTC.');
  assert.equal(told(20_000_000, 20_000_000), 'At this rate, reached Nov 21, 00:00 UTC.');
  assert.equal(
    told(10_000_000, 20_000_000),
    'Already reached: $15.00 used in this window. Relay rejects requests until Dec 1, 00:00 UTC.',
  );
  assert.equal(
    told(20_000_000, 10_000_000),
    'At this rate, reached Nov 21, 00:00 UTC. The current limit is already reached.',
  );
});
