/** What a provider reported for one request. A count that the provider did not report is zero only where it said so. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Part of the input, read from a cache. */
  readonly cachedInputTokens: number;
  /** Parts of the input that the provider wrote to a cache which it keeps for 5 minutes or for an hour; left out: none. */
  readonly cacheWrite5mTokens?: number;
  readonly cacheWrite1hTokens?: number;
  /** The provider charges nothing for the request, not even a flat price. */
  readonly free?: true;
}

/** What a request is expected to use, before anything is sent. */
export interface TokenEstimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** As in `Usage`. */
  readonly free?: true;
}
