interface WaitBin {
  readonly from_ms: number;
  readonly up_to_ms: number | null;
  readonly requests: number;
}

export interface Share {
  readonly least: number;
  readonly most: number;
}

/**
 * The share of requests that waited no longer than this; null without requests. Exact where a bin ends, otherwise between all and none of
 * the bin that it is in.
 */
export function servedShare(bins: readonly WaitBin[], budgetMs: number): Share | null {
  let [all, least, most] = [0, 0, 0];
  for (const { from_ms: fromMs, up_to_ms: upToMs, requests } of bins) {
    all += requests;
    if (upToMs !== null && upToMs <= budgetMs) least += requests;
    if (fromMs <= budgetMs) most += requests;
  }
  return all === 0 ? null : { least: least / all, most: most / all };
}
