import type { Surroundings } from '../kit/surroundings.ts';

export interface Wish {
  /** The inference base, which ends in /v1. */
  readonly baseUrl: string;
  readonly lane: string;
  /** The environment variable that holds the key. A key is never written into a file. */
  readonly keyVariable: string;
}

/** A coding agent that can be pointed at an OpenAI-style address by its settings file. */
export interface Agent {
  readonly name: string;
  readonly title: string;
  /** The variable the agent reads its key from; null when the file names any. */
  readonly fixedKeyVariable: string | null;
  path(surroundings: Surroundings): string;
  /** The file as it should be; `before` is null when there is none yet. Throws when it cannot be read. */
  edit(before: string | null, wish: Wish): string | Promise<string>;
  /** What is left to do by hand. */
  next(wish: Wish): string;
}
