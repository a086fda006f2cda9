import type { GuardrailBehaviourName, GuardrailServiceName } from '@relay/provider-sim';

export type Operation = 'chat' | 'responses' | 'embeddings';
export type Stage = 'pre_dispatch' | 'post_response';
export type Target = 'lane' | 'provider' | 'endpoint' | 'second endpoint' | 'global';
export type Verdict = 'allowed' | 'flagged' | 'replaced' | 'blocked' | 'unavailable';

/** What the guardrail of a cell does: a behavior of the simulator, a refused connection, or a simulated service. */
export type Behaviour = GuardrailBehaviourName | 'refused' | `service ${GuardrailServiceName}`;

export interface Guard {
  readonly behaviour: Behaviour;
  readonly stages: readonly Stage[];
  readonly target: Target;
  readonly mode: 'fail_closed' | 'fail_open';
  /** Further fields of the guardrail, as the configuration file has them. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** Further bindings besides that to the target. */
  readonly boundAlsoTo?: readonly Target[];
  /** How it is switched off, where it is. */
  readonly off?: 'guardrail disabled' | 'binding disabled' | 'bound elsewhere';
}

/** One line of what the record of a request says about guardrails. */
export interface Said {
  /** The place of the guardrail in the cell. */
  readonly guard: number;
  readonly stage: Stage;
  readonly verdict: Verdict;
  readonly cause: string | null;
}

export interface Expected {
  readonly status: number;
  /** Null for a success. */
  readonly code: string | null;
  readonly param?: string;
  /** The guardrail that the error names. */
  readonly refusedBy?: { readonly guard: number; readonly stage: Stage };
  /** How often the provider was asked. */
  readonly dispatches: number;
  readonly said: readonly Said[];
  /** The text that stands in the place of the provider's. */
  readonly replacement?: string;
  readonly skippedParts?: number;
}

export interface Cell {
  readonly name: string;
  readonly operation: Operation;
  readonly streaming: boolean;
  readonly guards: readonly Guard[];
  readonly expected: Expected;
  /** Members of the request besides the usual ones, or in their place. */
  readonly request?: Readonly<Record<string, unknown>>;
  /** Words of the user besides those that name the cell. */
  readonly words?: string;
  /** What the provider does besides answering. */
  readonly fault?: Readonly<Record<string, unknown>>;
  /** A second endpoint of another provider behind the first. */
  readonly fallback?: boolean;
}

export const REPLACEMENT = '[withheld by policy]';

/** Short, where the guardrail is meant to be late. */
export const LATE_MS = 300;

export const passes: Expected = { status: 200, code: null, dispatches: 1, said: [] };

export function guard(behaviour: Behaviour, stage: Stage, over: Partial<Guard> = {}): Guard {
  return { behaviour, stages: [stage], target: 'lane', mode: 'fail_closed', ...over };
}
