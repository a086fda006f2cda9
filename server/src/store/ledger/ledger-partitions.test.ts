import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import { utcDayOf, uuidRangeOfDay } from './ledger-partitions.ts';

function uuidAt(timeMs: number, tail: string): string {
  const hex = timeMs.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${tail.slice(0, 3)}-8${tail.slice(3, 6)}-${tail.slice(6, 18)}`;
}

const anyTimeMs = fc.integer({ min: 0, max: Date.UTC(9998, 0, 1) });
const anyTail = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 18, maxLength: 18 });

describe('ledger days', () => {
  it('every request id is within the range of the day it arrived on, and of no other', () => {
    fc.assert(
      fc.property(anyTimeMs, anyTail, (timeMs, tail) => {
        const id = uuidAt(timeMs, tail);
        assert.equal(uuidTimeMs(id), timeMs);
        const { from, to } = uuidRangeOfDay(utcDayOf(timeMs));
        assert.ok(from <= id && id < to);
      }),
    );
  });

  it('days follow one another without gap or overlap', () => {
    fc.assert(
      fc.property(anyTimeMs, (timeMs) => {
        const today = uuidRangeOfDay(utcDayOf(timeMs));
        const tomorrow = uuidRangeOfDay(utcDayOf(timeMs + 86_400_000));
        assert.equal(today.to, tomorrow.from);
      }),
    );
  });

  it('a day that does not exist is refused', () => {
    for (const day of ['2026-02-30', '2026-1-1', 'today', '', '2026-11-14T00:00:00Z']) {
      assert.throws(() => uuidRangeOfDay(day), RangeError, day);
    }
  });
});
