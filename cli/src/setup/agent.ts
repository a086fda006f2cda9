import type { Surroundings } from '../kit/surroundings.ts';

export interface Wish {
  /** The inference base URL, which ends in /v1. */
  readonly baseUrl: string;
  readonly lane: string;
  /** The environment variable of the key. Keys are never written to a file. */
  readonly keyVariable: string;
}

/** A coding agent whose settings file accepts an OpenAI-compatible URL. */
export interface Agent {
  readonly name: string;
  readonly title: string;
  /** The agent's fixed variable for the key; null if the file names one. */
  readonly fixedKeyVariable: string | null;
  path(surroundings: Surroundings): string;
  /** The edited file; `before` is null without a file. Throws if it cannot be parsed. */
  edit(before: string | null, wish: Wish): string | Promise<string>;
  /** The remaining manual steps. */
  next(wish: Wish): string;
}
