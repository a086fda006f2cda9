import assert from 'node:assert/strict';
import { it } from 'node:test';
import { milliseconds, untilText } from './cells.ts';

it('times are said as people read them', () => {
  const nowMs = Date.parse('2026-01-31T12:00:00.000Z');
  assert.equal(untilText('2026-01-31T20:39:00.000Z', nowMs), 'in 8 h 39 min');
  assert.equal(untilText('2026-01-31T12:00:00.000Z', nowMs), 'now');
  assert.equal(untilText(null, nowMs), '-');
  assert.deepEqual([31_140_000, 340, null].map(milliseconds), ['8 h 39 min', '340 ms', '-']);
});
