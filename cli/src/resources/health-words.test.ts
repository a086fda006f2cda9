import assert from 'node:assert/strict';
import { it } from 'node:test';
import { healthColumns, withHealthWords } from './health-words.ts';

const nowMs = Date.parse('2026-01-31T12:00:00.000Z');
const seen = {
  health: 'down',
  health_detail: {
    reason: 'connection refused',
    since: '2026-01-31T11:59:20.000Z',
    requests: 12,
    error_share: 0.75,
    last_error: { at: '2026-01-31T11:59:58.000Z', message: 'connection refused', status: null },
  },
} as const;

it('one resource shows its health in words: since when, why, the recent errors and the last one', () => {
  const fields = [
    ['name', 'A'],
    ['health', 'down'],
    ['health_detail', '{}'],
    ['enabled', true],
  ] as const;
  assert.deepEqual(withHealthWords(fields, seen, nowMs), [
    ['name', 'A'],
    ['health', 'Down for 40 s: connection refused.'],
    ['recent', '12 requests in the last 5 min, 75% failed'],
    ['last_error', 'connection refused, 2026-01-31 11:59:58 UTC'],
    ['enabled', true],
  ]);
});

it('a list shows the state and why, each state with a color of its kind', () => {
  const [state, why] = healthColumns<typeof seen>();
  assert.deepEqual([state?.value(seen), state?.tone?.(seen)], ['down', 'bad']);
  assert.equal(why?.value(seen), 'connection refused');
});
