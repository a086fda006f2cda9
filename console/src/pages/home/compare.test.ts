import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changeBetween, halvesOf, lengthMsOf, sumOf } from './compare.ts';

const at = (hour: number) => new Date(Date.UTC(2026, 2, 1, hour)).toISOString();
const HOUR_MS = 3_600_000;

describe('a range and the preceding range', () => {
  const points = [0, 1, 2, 3, 4].map((hour) => ({ at: at(hour), value: hour }));

  it('the first bucket of the range belongs to the range', () => {
    const { now, before } = halvesOf(points, '2026-03-01T02:30:00.000Z');
    assert.deepEqual([sumOf(before), sumOf(now)], [1, 9]);
    assert.equal(lengthMsOf(now, '2026-03-01T04:30:00.000Z'), 2.5 * HOUR_MS);
  });

  it('steady traffic shows no change, although the range is longer', () => {
    const change = changeBetween({ sum: 25, lengthMs: 25 * HOUR_MS }, { sum: 24, lengthMs: 24 * HOUR_MS });
    assert.equal(change, 0);
  });

  it('without earlier values there is no change', () => {
    assert.equal(changeBetween({ sum: 5, lengthMs: 1 }, { sum: 0, lengthMs: 1 }), null);
  });
});
