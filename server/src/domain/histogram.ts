/** How many durations each bin has. A bin is named by the longest duration that it counts. */
export type DurationCounts = ReadonlyMap<number, number>;

/** Durations of many requests. */
export interface Histogram {
  readonly counts: DurationCounts;
  /** By `COARSE_BOUNDS_MS`, and one more for longer durations: what versions before these bins counted. */
  readonly coarse: readonly number[];
}

export interface Bin {
  readonly fromMs: number;
  /** Included; null where it is not known. */
  readonly upToMs: number | null;
  readonly count: number;
}

/** Bounds of the bins of versions before. They never change, because their counts are stored. */
export const COARSE_BOUNDS_MS: readonly number[] = [
  0, 10, 16, 25, 40, 63, 100, 160, 250, 400, 630, 1_000, 1_600, 2_500, 4_000, 6_300, 10_000, 16_000, 25_000,
  40_000, 63_000, 100_000, 160_000, 250_000, 400_000, 630_000,
];

/** Up to here every millisecond is a bin. */
const EXACT_MS_MAX = 1_000;
/** Eleven days. Names of bins have to fit an integer of PostgreSQL. */
const COUNTED_MS_MAX = 1_000_000_000;

/**
 * The bin of a whole number of milliseconds. Above a second, two bins meet at each value of two significant digits, and two in the middle
 * between two such values. So all durations of a bin round to the same value, and each such value can be compared with exactly.
 */
export function binOf(durationMs: number): number {
  if (durationMs <= EXACT_MS_MAX) return durationMs;
  const stepMs = stepOf(durationMs);
  const belowMs = durationMs - (durationMs % stepMs);
  if (belowMs === durationMs) return durationMs;
  return durationMs - belowMs < stepMs / 2 ? belowMs + stepMs / 2 - 1 : belowMs + stepMs;
}

/** The shortest duration of a bin. */
export function binStartMs(upToMs: number): number {
  if (upToMs <= EXACT_MS_MAX) return upToMs;
  const stepMs = stepOf(upToMs);
  const restMs = upToMs % stepMs;
  return restMs === 0 ? upToMs - stepMs / 2 : upToMs - restMs + 1;
}

/** The last of two significant digits. */
function stepOf(durationMs: number): number {
  let stepMs = EXACT_MS_MAX / 10;
  while (durationMs > 100 * stepMs) stepMs *= 10;
  return stepMs;
}

/** What every duration of the bin rounds to. */
function roundedMs(upToMs: number): number {
  return upToMs <= EXACT_MS_MAX ? upToMs : Math.round(upToMs / stepOf(upToMs)) * stepOf(upToMs);
}

export function countDuration(counts: Map<number, number>, durationMs: number, times: number): void {
  const counted = Math.min(COUNTED_MS_MAX, Math.max(0, Math.round(durationMs)));
  addToBin(counts, binOf(counted), times);
}

export function addCounts(counts: Map<number, number>, more: DurationCounts): void {
  for (const [upToMs, times] of more) addToBin(counts, upToMs, times);
}

function addToBin(counts: Map<number, number>, upToMs: number, times: number): void {
  counts.set(upToMs, (counts.get(upToMs) ?? 0) + times);
}

/** The bins that are not empty, in order. */
export function binsOf(histogram: Histogram): Bin[] {
  const { counts, coarse } = balanced(histogram);
  const fine = [...counts].map(([upToMs, count]) => ({ fromMs: binStartMs(upToMs), upToMs, count }));
  const before = coarse.map((count, place) => ({
    fromMs: (COARSE_BOUNDS_MS[place - 1] ?? -1) + 1,
    upToMs: COARSE_BOUNDS_MS[place] ?? null,
    count,
  }));
  return [...fine, ...before]
    .filter(({ count }) => count > 0)
    .sort((a, b) => (a.upToMs ?? Number.POSITIVE_INFINITY) - (b.upToMs ?? Number.POSITIVE_INFINITY));
}

/**
 * Without negative counts. Where two versions ran side by side, one may have counted an estimate and the other replaced it, so that it
 * is in a bin of one kind and taken off a bin of the other.
 */
function balanced(histogram: Histogram): Histogram {
  const counts = new Map(histogram.counts);
  const coarse = [...histogram.coarse];
  for (const [upToMs, count] of histogram.counts) {
    const place = coarsePlaceOf(upToMs);
    const taken = Math.min(-count, coarse[place] ?? 0);
    if (count >= 0 || taken <= 0) continue;
    coarse[place] = (coarse[place] ?? 0) - taken;
    counts.set(upToMs, count + taken);
  }
  for (const [upToMs, count] of counts) {
    const place = coarsePlaceOf(upToMs);
    const taken = Math.min(-(coarse[place] ?? 0), count);
    if (taken <= 0) continue;
    coarse[place] = (coarse[place] ?? 0) + taken;
    counts.set(upToMs, count - taken);
  }
  return { counts, coarse };
}

function coarsePlaceOf(durationMs: number): number {
  const place = COARSE_BOUNDS_MS.findIndex((boundMs) => durationMs <= boundMs);
  return place === -1 ? COARSE_BOUNDS_MS.length : place;
}

/**
 * A percentile, such as 0.95, by nearest rank as PostgreSQL's `percentile_disc`; null when nothing was counted. Exact up to a second, and
 * rounded to two significant digits above.
 */
export function quantileMs(histogram: Histogram, share: number): number | null {
  const bins = binsOf(histogram);
  const total = bins.reduce((sum, { count }) => sum + count, 0);
  if (total <= 0) return null;
  let left = Math.max(1, Math.ceil(share * total));
  for (const { fromMs, upToMs, count } of bins) {
    left -= count;
    if (left <= 0) return roundedMs(upToMs ?? fromMs - 1);
  }
  return null;
}
