interface WaitBin {
  readonly up_to_ms: number | null;
  readonly requests: number;
}

/**
 * The share of these requests that would have been served with such a wait budget. Within a bin waits are taken as spread
 * evenly; null when there were no requests.
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
