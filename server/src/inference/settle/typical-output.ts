const FIRST_GUESS_TOKENS = 256;
const NAMES_MAX = 10_000;
const WEIGHT_OF_NEWEST = 0.1;

/** What a lane's answers usually come to, for requests that set no bound of their own. */
export interface TypicalOutput {
  tokens(name: string): number;
  learn(name: string, outputTokens: number): void;
}

export function createTypicalOutput(): TypicalOutput {
  const averages = new Map<string, number>();
  return {
    tokens: (name) => Math.ceil(averages.get(name) ?? FIRST_GUESS_TOKENS),
    learn(name, outputTokens) {
      // A provider that reports zero says nothing of how long an answer gets, and an estimate of zero
      // would let requests through that nothing was reserved for.
      if (outputTokens <= 0) return;
      const known = averages.get(name);
      if (known === undefined && averages.size >= NAMES_MAX) return;
      const next = known === undefined ? outputTokens : known + (outputTokens - known) * WEIGHT_OF_NEWEST;
      averages.set(name, next);
    },
  };
}
