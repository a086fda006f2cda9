interface WaitBin {
  readonly from_ms: number;
  readonly up_to_ms: number | null;
  readonly requests: number;
}

/** How many requests waited, and how many of those no longer than a wait budget. */
export interface WaitCounts {
  readonly immediate: number;
  readonly waited: number;
  /** Equal where a bin ends; otherwise, none and all of the bin that the wait budget is in. */
  readonly least: number;
  readonly most: number;
}

export function waitCounts(bins: readonly WaitBin[], budgetMs: number): WaitCounts {
  let [immediate, waited, least, most] = [0, 0, 0, 0];
  for (const { from_ms: fromMs, up_to_ms: upToMs, requests } of bins) {
    if (upToMs === 0) {
      immediate += requests;
      continue;
    }
    waited += requests;
    if (upToMs !== null && upToMs <= budgetMs) least += requests;
    if (fromMs <= budgetMs) most += requests;
  }
  return { immediate, waited, least, most };
}

/** The stops of the slider, which share its length equally. A bin ends at each, except those of earlier versions, so counts are exact there; the field accepts other values. */
export const STOPS_MS: readonly number[] = [
  0, 100, 250, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000, 15_000, 20_000, 30_000, 45_000, 60_000,
  120_000, 300_000, 600_000, 1_800_000, 3_600_000,
];
const STEPS = STOPS_MS.length - 1;

/** Where a wait is on the slider, from 0 to 1. */
export function placeOf(waitMs: number): number {
  const stop = STOPS_MS.findLastIndex((each) => each <= waitMs);
  const [fromMs = 0, upToMs] = [STOPS_MS[stop], STOPS_MS[stop + 1]];
  return upToMs === undefined ? 1 : (stop + (waitMs - fromMs) / (upToMs - fromMs)) / STEPS;
}

/** The waits between two stops. */
export interface WaitBar {
  readonly fromMs: number;
  readonly upToMs: number;
  /** Not whole where a bin reaches over several bars. */
  readonly requests: number;
}

/**
 * Of requests that waited; without empty ones. A bin of an earlier version may reach over several bars, which then share its requests. A
 * wait beyond the last stop is in the last bar.
 */
export function waitBars(bins: readonly WaitBin[]): readonly WaitBar[] {
  const bars = STOPS_MS.slice(1).map((upToMs, at) => ({ fromMs: STOPS_MS[at] ?? 0, upToMs, requests: 0 }));
  const lastMs = STOPS_MS[STEPS] ?? 0;
  for (const { from_ms: fromMs, up_to_ms: upToMs, requests } of bins) {
    if (upToMs === 0) continue;
    const [aboveMs, endMs] = [Math.min(fromMs, lastMs) - 1, Math.min(upToMs ?? lastMs, lastMs)];
    for (const bar of bars) {
      const sharedMs = Math.min(endMs, bar.upToMs) - Math.max(aboveMs, bar.fromMs);
      if (sharedMs > 0) bar.requests += (requests * sharedMs) / (endMs - aboveMs);
    }
  }
  return bars.filter(({ requests }) => requests > 0);
}
