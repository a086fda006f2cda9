const FIRST_GUESS_TOKENS = 256;
const NAMES_MAX = 10_000;
const WEIGHT_OF_NEWEST = 0.1;

/** The typical output of a lane's answers, for requests without an output limit. */
export interface TypicalOutput {
  tokens(name: string): number;
  learn(name: string, outputTokens: number): void;
}

export function createTypicalOutput(): TypicalOutput {
  const averages = new Map<string, number>();
  return {
    tokens: (name) => Math.ceil(averages.get(name) ?? FIRST_GUESS_TOKENS),
    learn(name, outputTokens) {
      // A reported zero says nothing about typical length, and an estimate of zero would admit requests without a
      // reservation.
      if (outputTokens <= 0) return;
      const known = averages.get(name);
      if (known === undefined && averages.size >= NAMES_MAX) return;
      const next = known === undefined ? outputTokens : known + (outputTokens - known) * WEIGHT_OF_NEWEST;
      averages.set(name, next);
    },
  };
}
