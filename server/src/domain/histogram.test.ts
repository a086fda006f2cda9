import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { countDuration, HISTOGRAM_BOUNDS_MS, histogramPlace, quantileMs } from './histogram.ts';

const anyDuration = fc.integer({ min: 0, max: 2_000_000 });

describe('histogram of durations', () => {
  it('counts every duration in the one bucket whose bounds enclose it', () => {
    fc.assert(
      fc.property(anyDuration, (durationMs) => {
        const place = histogramPlace(durationMs);
        assert.ok(durationMs <= (HISTOGRAM_BOUNDS_MS[place] ?? Number.POSITIVE_INFINITY));
        assert.ok(place === 0 || durationMs > (HISTOGRAM_BOUNDS_MS[place - 1] ?? 0));
      }),
    );
  });

  it('has bounds that grow, by no more than two thirds at a time', () => {
    for (const [place, bound] of HISTOGRAM_BOUNDS_MS.entries()) {
      const before = HISTOGRAM_BOUNDS_MS[place - 1] ?? -1;
      assert.ok(bound > before);
      if (before > 0) assert.ok(bound / before < 1.67, String(bound));
    }
  });

  it('is as it was once everything that was added is taken away', () => {
    fc.assert(
      fc.property(fc.array(anyDuration), (durations) => {
        const counts: number[] = [];
        for (const durationMs of durations) countDuration(counts, durationMs, 1);
        assert.equal(
          counts.reduce((sum, count) => sum + count, 0),
          durations.length,
        );
        for (const durationMs of durations) countDuration(counts, durationMs, -1);
        assert.ok(counts.every((count) => count === 0));
      }),
    );
  });

  it('tells a quantile within the bucket that holds it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 600_000 }), { minLength: 1 }),
        fc.constantFrom(0.5, 0.95, 0.99),
        (durations, share) => {
          const counts: number[] = [];
          for (const durationMs of durations) countDuration(counts, durationMs, 1);
          const sorted = durations.toSorted((a, b) => a - b);
          const exact = sorted[Math.max(0, Math.ceil(share * durations.length) - 1)] ?? 0;
          const place = histogramPlace(exact);
          const told = quantileMs(counts, share) ?? -1;
          assert.ok(told <= (HISTOGRAM_BOUNDS_MS[place] ?? 0));
          assert.ok(told >= (HISTOGRAM_BOUNDS_MS[place - 1] ?? 0));
        },
      ),
    );
  });

  it('knows no quantile of nothing, and of what is past the last bound only that bound', () => {
    assert.equal(quantileMs([], 0.5), null);
    assert.equal(quantileMs([0, 0], 0.5), null);
    const counts: number[] = [];
    countDuration(counts, 5_000_000, 1);
    assert.equal(quantileMs(counts, 0.5), 630_000);
  });
});
