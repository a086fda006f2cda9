import type { Fault } from '@relay/provider-sim';
import type { ModeName } from '../harness/mode.ts';

/** The codes of our own 502, by what the provider failed to give. */
export type LostCode = 'upstream_unreachable' | 'upstream_timeout' | 'upstream_invalid_response';

/** Tokens the ledger must hold. `estimated` must never be zero where something was worked on. */
export type ExpectedUsage =
  | { readonly source: 'provider' }
  | { readonly source: 'estimated' }
  | {
      readonly source: 'reported';
      readonly input: number;
      readonly output: number;
      readonly cached?: number;
    };

/** What a fault must come to. Everything else a cell asserts follows from this. */
export type Expectation =
  /** The provider's answer reaches the client whole and completes. */
  | { readonly kind: 'answered'; readonly status?: number; readonly usage?: ExpectedUsage }
  /** No usable answer and nothing sent: the next candidate answers, else our 502. */
  | { readonly kind: 'lost'; readonly code: LostCode; readonly attemptStatus?: number }
  /** A provider that says it cannot now (429, 5xx): the next candidate answers, else its own words. */
  | { readonly kind: 'refused'; readonly status: number }
  /** The provider's own rejection is passed on, even if another endpoint could be tried. */
  | { readonly kind: 'passed'; readonly status: number }
  /** A stream that failed before content: the next candidate answers, else the stream as it is. */
  | { readonly kind: 'refused stream' }
  /** A stream that died after content: whole frames, one error frame of ours, no end. */
  | { readonly kind: 'interrupted'; readonly code: string; readonly usage?: ExpectedUsage }
  /** A stream in which the provider itself reported an error after content: as it is, nothing added. */
  | { readonly kind: 'errored stream' }
  /** Bytes that cannot be mended once begun: the client's connection breaks too. */
  | { readonly kind: 'broken'; readonly code: string };

/** Which deployment of endpoints a row needs. */
export type Bench = 'plain' | 'hurried' | 'closed port';

export interface FaultRow {
  readonly name: string;
  readonly fault: Fault;
  /** Per mode; a mode that is missing is one where the fault means nothing. */
  readonly expect: Partial<Record<ModeName, Expectation>>;
  readonly bench?: Bench;
  /** How long the endpoint is to be left alone after the cell. */
  readonly cooldownMs?: number;
  readonly requestHeaders?: Readonly<Record<string, string>>;
  /** Response headers that must reach the client as given, and those that must not (null). */
  readonly answerHeaders?: Readonly<Record<string, string | null>>;
}

export function forModes(names: readonly ModeName[], expectation: Expectation): FaultRow['expect'] {
  return Object.fromEntries(names.map((name) => [name, expectation]));
}
