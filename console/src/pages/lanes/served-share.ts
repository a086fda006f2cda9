interface WaitBin {
  readonly up_to_ms: number | null;
  readonly requests: number;
}

/**
 * The share of requests that a wait budget would have served, with linear interpolation within a bin; null
 * without requests.
 */
export function servedShare(bins: readonly WaitBin[], budgetMs: number): number | null {
  let [all, served, lowMs] = [0, 0, 0];
  for (const { up_to_ms: highMs, requests } of bins) {
    all += requests;
    if (highMs !== null && highMs <= budgetMs) served += requests;
    else if (highMs !== null && lowMs < budgetMs)
      served += (requests * (budgetMs - lowMs)) / (highMs - lowMs);
    lowMs = highMs ?? lowMs;
  }
  return all === 0 ? null : served / all;
}
