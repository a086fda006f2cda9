/** What a provider reported for one request. A count that the provider did not report is zero only where it said so. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Part of the input, read from a cache. */
  readonly cachedInputTokens: number;
  /** Parts of the input that the provider wrote to a cache which it keeps for 5 minutes or for an hour; left out: none. */
  readonly cacheWrite5mTokens?: number;
  readonly cacheWrite1hTokens?: number;
  /** Parts of the input and of the output; left out: none. */
  readonly audioInputTokens?: number;
  readonly imageInputTokens?: number;
  readonly reasoningTokens?: number;
  readonly audioOutputTokens?: number;
  readonly imageOutputTokens?: number;
  /** The tier that served the request, where it is not the standard one. */
  readonly serviceTier?: string;
  /** The provider charges nothing for the request, not even a flat price. */
  readonly free?: true;
}

/** The parts of the input and of the output. Providers report them apart; where together they exceed the whole, the earlier ones count. */
export const INPUT_PARTS = [
  'cachedInputTokens',
  'cacheWrite5mTokens',
  'cacheWrite1hTokens',
  'audioInputTokens',
  'imageInputTokens',
] as const satisfies readonly (keyof Usage)[];
export const OUTPUT_PARTS = [
  'reasoningTokens',
  'audioOutputTokens',
  'imageOutputTokens',
] as const satisfies readonly (keyof Usage)[];

export type UsagePart = (typeof INPUT_PARTS)[number] | (typeof OUTPUT_PARTS)[number];

/** What a request is expected to use, before anything is sent. */
export interface TokenEstimate {
  readonly inputTokens: number;
  /** The part of the input that is a guess, because the request only refers to it; left out: none. */
  readonly guessedInputTokens?: number;
  readonly outputTokens: number;
  /** As in `Usage`. */
  readonly free?: true;
}
