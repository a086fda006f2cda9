/** What a provider reported for one request. A count that the provider did not report is zero only where it said so. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
}

/** What a request is expected to use, before anything is sent. */
export interface TokenEstimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
}
