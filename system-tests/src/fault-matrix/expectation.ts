import type { Fault } from '@relay/provider-sim';
import type { ModeName } from '../harness/mode.ts';

/** The codes of our own 502, by what the provider failed to give. */
export type LostCode = 'upstream_unreachable' | 'upstream_timeout' | 'upstream_invalid_response';

export type RejectedCode = 'upstream_credential_refused' | 'upstream_redirected';

/** Tokens the ledger must hold. `estimated` must never be zero where something was worked on. */
export type ExpectedUsage =
  | { readonly source: 'provider' }
  | { readonly source: 'estimated'; readonly outputMin?: number; readonly outputMax?: number }
  /** The provider reports more than any model can use: the sum is the most that is charged. */
  | { readonly source: 'bounded' }
  | {
      readonly source: 'reported';
      readonly input: number;
      readonly output: number;
      readonly cached?: number;
    };

/** The required result of a fault. All other assertions of a cell follow from it. */
export type Expectation =
  /** The provider's response reaches the client unchanged. */
  | { readonly kind: 'answered'; readonly status?: number; readonly usage?: ExpectedUsage }
  /** No usable response and nothing sent: Relay falls back, else returns its own 502. */
  | { readonly kind: 'lost'; readonly code: LostCode; readonly attemptStatus: number | null }
  /** The provider is unavailable (404, 408, 429, 5xx and others): Relay falls back, else passes its response on. */
  | { readonly kind: 'refused'; readonly status: number }
  /** The provider asks for a pause within the wait budget: Relay falls back, else sends the request again after it. */
  | { readonly kind: 'paused'; readonly status: number }
  /** The provider rejects Relay's credential or redirects: Relay falls back, else returns its own 502. */
  | { readonly kind: 'rejected'; readonly status: number; readonly code: RejectedCode }
  /** The provider's own rejection is passed on, even if another endpoint could be tried. */
  | { readonly kind: 'passed'; readonly status: number }
  /** A stream failed before content: Relay falls back, else passes the stream on. */
  | { readonly kind: 'refused stream' }
  /** A stream broke after content: complete frames, one error frame of Relay, no terminator. */
  | { readonly kind: 'interrupted'; readonly code: string; readonly usage?: ExpectedUsage }
  /** A 200 with nothing but an error: Relay falls back, else passes the body on with the status that clients read as an error. */
  | { readonly kind: 'reported error'; readonly status: number }
  /** A stream in which the provider itself reported an error after content, or that clients cannot read: as it is, nothing added. */
  | { readonly kind: 'errored stream'; readonly code?: string }
  /** A body that broke after it began: Relay breaks the client's connection too. */
  | { readonly kind: 'broken'; readonly code: string };

/** What a row needs of its endpoints and lane. */
export type Bench = 'plain' | 'hurried' | 'patient' | 'closed port' | 'unknown host';

export interface FaultRow {
  readonly name: string;
  /** Texts in it may hold the placeholders of `quotes.ts`. */
  readonly fault: Fault;
  /** By mode; a fault does not apply to modes that are missing. */
  readonly expect: Partial<Record<ModeName, Expectation>>;
  readonly bench?: Bench;
  /** What Relay's own error says of the cause. */
  readonly says?: RegExp;
  /** An error without a body that Relay can read. */
  readonly silent?: boolean;
  readonly requestHeaders?: Readonly<Record<string, string>>;
  /** Response headers that must reach the client as given, and those that must not (null). */
  readonly answerHeaders?: Readonly<Record<string, string | null>>;
}

export function row(
  name: string,
  fault: Fault,
  expect: FaultRow['expect'],
  more: Omit<FaultRow, 'name' | 'fault' | 'expect'> = {},
): FaultRow {
  return { name, fault, expect, ...more };
}

export function forModes(names: readonly ModeName[], expectation: Expectation): FaultRow['expect'] {
  return Object.fromEntries(names.map((name) => [name, expectation]));
}

/** The error code of an attempt that ended like this; null for one that succeeded. */
export function causeOf(expectation: Expectation): string | null {
  switch (expectation.kind) {
    case 'answered':
      return null;
    case 'refused':
    case 'paused':
    case 'rejected':
    case 'passed':
      return `upstream_status_${expectation.status}`;
    case 'refused stream':
    case 'reported error':
      return 'upstream_invalid_response';
    case 'errored stream':
      return expectation.code ?? 'upstream_error_frame';
    default:
      return expectation.code;
  }
}
