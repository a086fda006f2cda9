import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeOf, STOPS_MS, waitBars, waitCounts } from './wait-counts.ts';

const bins = [
  { from_ms: 0, up_to_ms: 0, requests: 50 },
  { from_ms: 4_701, up_to_ms: 4_749, requests: 40 },
  { from_ms: 5_000, up_to_ms: 5_000, requests: 8 },
  { from_ms: 630_001, up_to_ms: null, requests: 2 },
];
const within = (budgetMs: number) => {
  const { least, most } = waitCounts(bins, budgetMs);
  return [least, most];
};

test('a wait budget is enough for requests that waited no longer', () => {
  assert.deepEqual(waitCounts(bins, 0), { immediate: 50, waited: 50, least: 0, most: 0 });
  assert.deepEqual(within(4_700), [0, 0]);
  assert.deepEqual(within(4_800), [40, 40]);
  assert.deepEqual(within(5_000), [48, 48]);
});

test('within a bin, it is between none and all of it', () => {
  assert.deepEqual(within(4_711), [0, 40]);
  assert.deepEqual(within(3_600_000), [48, 50]);
});

test('bars are between the stops of the slider, without requests that did not wait', () => {
  assert.deepEqual(waitBars(bins), [
    { fromMs: 3_000, upToMs: 5_000, requests: 48 },
    { fromMs: 600_000, upToMs: 1_800_000, requests: 2 * (1_170_000 / 2_970_000) },
    { fromMs: 1_800_000, upToMs: 3_600_000, requests: 2 * (1_800_000 / 2_970_000) },
  ]);
  assert.deepEqual(waitBars([{ from_ms: 5_000_000, up_to_ms: 5_000_000, requests: 3 }]), [
    { fromMs: 1_800_000, upToMs: 3_600_000, requests: 3 },
  ]);
  assert.deepEqual(waitBars([]), []);
});

test('a wait is where its stop is on the slider, and between two stops by its share', () => {
  const steps = STOPS_MS.length - 1;
  for (const [stop, ms] of STOPS_MS.entries()) assert.equal(placeOf(ms), stop / steps, `${ms} ms`);
  assert.equal(placeOf(50), 0.5 / steps);
  assert.equal(placeOf(99_999_999), 1);
});
