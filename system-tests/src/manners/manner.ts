import type { Deployment } from '../harness/deployment.ts';

/** One behaviour that a client or an operator may rely on, checked from outside against a deployment that all of them share. */
export interface Manner {
  /** The guarantee, as a sentence. */
  readonly name: string;
  check(site: Deployment): Promise<void>;
}
