import type { Random } from '../chaos/random.ts';
import type { Verdict } from './judge.ts';
import type { Ground, Site } from './site.ts';

/** One kind of input: how to make it, send it and judge what comes back. */
export interface Target {
  readonly name: string;
  /** Its part of all inputs, relative to the others. */
  readonly weight: number;
  /** Sends the input and judges the answer. `shown` is what a person needs to see of the input. */
  one(context: InputContext): Promise<Outcome>;
}

export interface InputContext {
  readonly random: Random;
  readonly site: Site;
  readonly ground: Ground;
  /** The name of this input where something else has to know it. */
  readonly tag: string;
}

export interface Outcome {
  readonly verdict: Verdict | null;
  readonly shown: string;
  readonly status: number;
}
