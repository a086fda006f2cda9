import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  addCounts,
  binOf,
  binStartMs,
  binsOf,
  COARSE_BOUNDS_MS,
  countDuration,
  quantileMs,
} from './histogram.ts';

const anyDuration = fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 90_000_000 }));

function histogramOf(durations: readonly number[]) {
  const counts = new Map<number, number>();
  for (const durationMs of durations) countDuration(counts, durationMs, 1);
  return { counts, coarse: [] };
}

/** Two significant digits, half up, from a second on. */
function rounded(durationMs: number): number {
  if (durationMs <= 1_000) return durationMs;
  const stepMs = 10 ** (String(durationMs).length - 2);
  return Math.floor(durationMs / stepMs + 0.5) * stepMs;
}

function nearestRank(durations: readonly number[], share: number): number {
  const sorted = durations.toSorted((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil(share * durations.length)) - 1] ?? 0;
}

describe('histogram of durations', () => {
  it('counts every duration in the one bin whose bounds enclose it', () => {
    fc.assert(
      fc.property(anyDuration, (durationMs) => {
        const upToMs = binOf(durationMs);
        const fromMs = binStartMs(upToMs);
        assert.ok(fromMs <= durationMs && durationMs <= upToMs, `${fromMs} ${durationMs} ${upToMs}`);
        assert.deepEqual([binOf(fromMs), binOf(upToMs)], [upToMs, upToMs]);
        if (fromMs > 0) assert.ok(binOf(fromMs - 1) < fromMs);
      }),
      { numRuns: 2_000 },
    );
  });

  it('has bins that round to one value and end at every value of two significant digits', () => {
    fc.assert(
      fc.property(anyDuration, (durationMs) => {
        const upToMs = binOf(durationMs);
        assert.equal(rounded(durationMs), rounded(upToMs));
        assert.equal(rounded(durationMs), rounded(binStartMs(upToMs)));
        assert.equal(binOf(rounded(durationMs)), rounded(durationMs));
      }),
      { numRuns: 2_000 },
    );
  });

  it('has no negative bins where one version counted what another took away', () => {
    const places = (counted: Readonly<Record<number, number>>) =>
      Array.from({ length: COARSE_BOUNDS_MS.length + 1 }, (_, place) => counted[place] ?? 0);
    const estimateOfOld = {
      counts: new Map([
        [0, -1],
        [1_700, 2],
      ]),
      coarse: places({ 0: 1 }),
    };
    assert.deepEqual(binsOf(estimateOfOld), [{ fromMs: 1_650, upToMs: 1_700, count: 2 }]);
    const estimateOfNew = {
      counts: new Map([
        [0, 1],
        [5, 1],
      ]),
      coarse: places({ 0: -1, 1: 3 }),
    };
    assert.deepEqual(
      binsOf(estimateOfNew).map(({ upToMs, count }) => [upToMs, count]),
      [
        [5, 1],
        [10, 3],
      ],
    );
  });

  it('is as it was once everything that was added is taken away', () => {
    fc.assert(
      fc.property(fc.array(anyDuration), (durations) => {
        const { counts } = histogramOf(durations);
        const bins = binsOf({ counts, coarse: [] });
        assert.equal(
          bins.reduce((sum, { count }) => sum + count, 0),
          durations.length,
        );
        for (const durationMs of durations) countDuration(counts, durationMs, -1);
        assert.deepEqual(binsOf({ counts, coarse: [] }), []);
      }),
    );
  });

  it('has the quantile of the durations themselves, rounded', () => {
    fc.assert(
      fc.property(
        fc.array(anyDuration, { minLength: 1 }),
        fc.constantFrom(0.5, 0.95, 0.99),
        (durations, share) => {
          assert.equal(quantileMs(histogramOf(durations), share), rounded(nearestRank(durations, share)));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is the sum of its parts', () => {
    fc.assert(
      fc.property(fc.array(anyDuration), fc.array(anyDuration), (one, other) => {
        const { counts } = histogramOf(one);
        addCounts(counts, histogramOf(other).counts);
        assert.deepEqual(binsOf({ counts, coarse: [] }), binsOf(histogramOf([...one, ...other])));
      }),
    );
  });

  it('adds what versions before counted in wider bins', () => {
    const { counts } = histogramOf([0, 5, 4_710]);
    // One that did not wait, two of 4.0 to 6.3 s, and one of more than 630 s.
    const coarse = COARSE_BOUNDS_MS.map((bound) => (bound === 0 ? 1 : bound === 6_300 ? 2 : 0)).concat(1);
    assert.deepEqual(binsOf({ counts, coarse }), [
      { fromMs: 0, upToMs: 0, count: 1 },
      { fromMs: 0, upToMs: 0, count: 1 },
      { fromMs: 5, upToMs: 5, count: 1 },
      { fromMs: 4_701, upToMs: 4_749, count: 1 },
      { fromMs: 4_001, upToMs: 6_300, count: 2 },
      { fromMs: 630_001, upToMs: null, count: 1 },
    ]);
    assert.equal(quantileMs({ counts, coarse }, 0.5), 4_700);
    assert.equal(quantileMs({ counts, coarse }, 0.7), 6_300);
    assert.equal(quantileMs({ counts, coarse }, 1), 630_000);
  });

  it('knows no quantile of nothing', () => {
    assert.equal(quantileMs({ counts: new Map(), coarse: [] }, 0.5), null);
    assert.equal(quantileMs({ counts: new Map([[5, 0]]), coarse: [0, 0] }, 0.5), null);
  });
});
