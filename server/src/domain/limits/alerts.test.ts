import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { exhaustedAtMs, reachedThresholds } from './alerts.ts';

const HOUR_MS = 3_600_000;

describe('thresholds of a limit', () => {
  it('are reached at exactly their share, and not one unit below', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 90_071_992_547_409 }),
        (percent, unit) => {
          const limit = unit * 100;
          assert.deepEqual(reachedThresholds([percent], { used: unit * percent, limit }), [percent]);
          // Below 2^53 / 100, one unit of use is more than the rounding of the quotient.
          if (limit <= 2 ** 45)
            assert.deepEqual(reachedThresholds([percent], { used: unit * percent - 1, limit }), []);
        },
      ),
    );
  });

  it('are all reported that were passed at once', () => {
    assert.deepEqual(reachedThresholds([50, 80, 100], { used: 95, limit: 100 }), [50, 80]);
    assert.deepEqual(reachedThresholds([50, 80, 100], { used: 1_000, limit: 100 }), [50, 80, 100]);
  });

  it('are not reached without use, also under a limit of 0', () => {
    assert.deepEqual(reachedThresholds([1, 100], { used: 0, limit: 0 }), []);
    assert.deepEqual(reachedThresholds([1, 100], { used: 1, limit: 0 }), [1, 100]);
  });
});

describe('the forecast of a limit', () => {
  const day = (used: number) => ({ startMs: 0, endMs: 24 * HOUR_MS, used, limit: 100 });

  it('is when the limit is reached at the pace so far', () => {
    assert.equal(exhaustedAtMs(day(50), 6 * HOUR_MS), 12 * HOUR_MS);
    assert.equal(exhaustedAtMs(day(99), 12 * HOUR_MS), Math.ceil((12 * HOUR_MS * 100) / 99));
  });

  it('is left out when the window ends first, or the limit is reached', () => {
    assert.equal(exhaustedAtMs(day(25), 6 * HOUR_MS), null);
    assert.equal(exhaustedAtMs(day(0), 6 * HOUR_MS), null);
    assert.equal(exhaustedAtMs(day(100), 6 * HOUR_MS), null);
    assert.equal(exhaustedAtMs(day(99), 24 * HOUR_MS), null);
  });

  it('waits for a tenth of the window', () => {
    assert.equal(exhaustedAtMs(day(90), 2.3 * HOUR_MS), null);
    assert.ok(exhaustedAtMs(day(90), 2.4 * HOUR_MS));
  });
});
