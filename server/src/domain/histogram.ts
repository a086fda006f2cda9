/**
 * Upper bounds of the buckets for durations, five to a decade, and one more bucket for longer durations. The first bucket is for
 * requests that did not wait. The bounds never change, because stored sums of different years are added.
 */
export const HISTOGRAM_BOUNDS_MS: readonly number[] = [
  0, 10, 16, 25, 40, 63, 100, 160, 250, 400, 630, 1_000, 1_600, 2_500, 4_000, 6_300, 10_000, 16_000, 25_000,
  40_000, 63_000, 100_000, 160_000, 250_000, 400_000, 630_000,
];

/** The index of the bucket that counts this duration. */
export function histogramPlace(durationMs: number): number {
  let [low, high] = [0, HISTOGRAM_BOUNDS_MS.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((HISTOGRAM_BOUNDS_MS[middle] ?? 0) < durationMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Adds to a histogram, which is only as long as its last non-empty bucket requires. */
export function countDuration(counts: number[], durationMs: number, times: number): void {
  const place = histogramPlace(durationMs);
  while (counts.length <= place) counts.push(0);
  counts[place] = (counts[place] ?? 0) + times;
}

export function addHistogram(counts: number[], more: readonly number[]): void {
  for (const [place, times] of more.entries()) counts[place] = (counts[place] ?? 0) + times;
}

/**
 * A percentile, such as 0.95; null when nothing was counted. Durations are assumed to be evenly spread inside a bucket, and above the
 * last bound only that bound is known.
 */
export function quantileMs(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total <= 0) return null;
  let before = 0;
  for (const [place, count] of counts.entries()) {
    if (count > 0 && before + count >= share * total) {
      const upper = HISTOGRAM_BOUNDS_MS[place] ?? HISTOGRAM_BOUNDS_MS.at(-1) ?? 0;
      const lower = HISTOGRAM_BOUNDS_MS[place - 1] ?? 0;
      const within = Math.max(0, (share * total - before) / count);
      return Math.round(lower + (upper - lower) * within);
    }
    before += count;
  }
  return HISTOGRAM_BOUNDS_MS.at(-1) ?? 0;
}
