import type { Outcome, Scenario } from './scenarios.ts';

export type ClientProtocol = 'chat' | 'responses' | 'messages';

export interface Target {
  /** The gateway's origin. */
  readonly url: string;
  readonly token: string;
  /** The lane. */
  readonly model: string;
}

/** A published client, and one way to use it. */
export interface MatrixClient {
  readonly name: string;
  readonly protocol: ClientProtocol;
  readonly scenarios: readonly Scenario[];
  run(target: Target, scenario: Scenario): Promise<Outcome>;
}
