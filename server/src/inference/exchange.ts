import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LimitMetric } from '@relay/contract';
import type { Refusal } from '../admission/engine.ts';
import type { Caller } from '../domain/caller.ts';
import type { TemplateValues } from '../domain/guardrails/template.ts';
import type { TokenEstimate, Usage } from '../domain/money/usage.ts';
import type { RecordedGuardrail } from '../domain/request-record.ts';
import type { Route } from '../domain/routing/routing.ts';
import type { OrganizationSnapshot } from '../domain/snapshot.ts';
import type { Protocol } from '../protocols/protocol.ts';
import type { InferenceBody } from '../protocols/request-body.ts';

/**
 * One request on its way through the gateway. Each step fills in its part; no step reads a part that a
 * later step owns. The pipeline creates it and is the only one that passes it on.
 */
export interface Exchange {
  readonly requestId: string;
  readonly clientRequestId: string | null;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** What the client speaks. */
  readonly protocol: Protocol;
  readonly caller: Caller;
  readonly snapshot: OrganizationSnapshot;
  readonly arrivedAtMs: number;
  /** Monotonic; every duration of the exchange is measured from here. */
  readonly startMs: number;
  /** As the client named it, bounded; null until the body was read. */
  model: string | null;
  streaming: boolean;
  /** Null until the name was found. */
  route: Route | null;
  readonly guard: ExchangeGuard;
  readonly marks: ExchangeMarks;
  readonly decisions: ExchangeDecisions;
  readonly attempts: AttemptRecord[];
  /** Of the last attempt; null when its provider is sent none. */
  credentialId: string | null;
  /** Time spent waiting for capacity, over all attempts. */
  waitMs: number;
  /** Of the candidate that was admitted last. */
  rateWindows: readonly RateWindow[];
  /** Time spent waiting for providers, over all attempts, up to the first byte given to the client. */
  upstreamMs: number;
  clientGone: boolean;
  /**
   * Whoever has to stop when the client hangs up. An object and not a closure over the step's variables: such closures
   * kept every request alive past its turn and made collecting the young generation several times dearer.
   */
  inCharge: InCharge | null;
}

/** What guardrails have to do with the exchange. */
export interface ExchangeGuard {
  /** Where guardrails are looked up: the exchange's own snapshot until a newer one is known to be stricter. */
  snapshot: OrganizationSnapshot;
  /** Null until a guardrail has to be shown the request. */
  shown: Shown | null;
  readonly verdicts: RecordedGuardrail[];
  /** Spent waiting for guardrails; null when none was asked. */
  tookMs: number | null;
}

/** What a guardrail may be told, and how much of it could not be put into words. */
export interface Shown {
  readonly values: TemplateValues;
  readonly skippedParts: number;
}

/** Monotonic moments and durations, for the record; null where the exchange has not come. */
export interface ExchangeMarks {
  receivedMs: number | null;
  routedMs: number | null;
  /** Spent asking for capacity, over all attempts, without the wait. */
  admitMs: number | null;
  /** From the dispatch of the last attempt to the head of its answer. */
  upstreamFirstByteMs: number | null;
}

/** What admission said, as far as the record tells of it. */
export interface ExchangeDecisions {
  /** The policy that made the request wait last, or refused it, by the id that the engine knows it by. */
  bound: { readonly policyId: string; readonly resetsAtMs: number | null } | null;
  /** The endpoint that the request waits for; the wait is null in line, whose end nobody knows. */
  awaited: { readonly endpointId: string; readonly waitMs: number | null } | null;
  refused: Refusal['reason'] | null;
}

/** A policy of the endpoint that serves the request, as it stands after the reservation. */
export interface RateWindow {
  readonly metric: LimitMetric;
  readonly limit: number;
  readonly used: number;
  readonly resetMs: number;
}

export interface InCharge {
  clientLeft(): void;
}

export interface RoutedRequest {
  readonly body: InferenceBody;
  readonly route: Route;
  readonly estimate: TokenEstimate;
}

export type AttemptOutcome = 'completed' | 'failed' | 'cancelled';

export interface AttemptRecord {
  readonly endpointId: string;
  readonly providerId: string;
  readonly upstreamModel: string;
  /** From the arrival of the request to this dispatch. */
  readonly startedMs: number;
  /** Waited for capacity before it, since the attempt before. */
  readonly waitMs: number;
  /** Null when no response arrived. */
  status: number | null;
  outcome: AttemptOutcome;
  cause: string | null;
  latencyMs: number;
}

export interface UpstreamHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Anything but a 2xx: a provider that redirects has not answered either, and redirects are not followed. */
export function isFailure(status: number): boolean {
  return status >= 300;
}

/** A whole upstream response in memory; nothing of it has reached the client. */
export interface UpstreamAnswer extends UpstreamHead {
  readonly body: Buffer;
}

export type FailureCode =
  | 'upstream_not_prepared'
  | 'upstream_unreachable'
  | 'upstream_timeout'
  | 'upstream_invalid_response';

/** How one attempt ended. Only `delivered` has sent anything to the client. */
export type AttemptResult =
  | { readonly kind: 'answer'; readonly answer: UpstreamAnswer; readonly usage: Usage | null }
  | {
      readonly kind: 'failure';
      readonly code: FailureCode;
      readonly internal: string;
      /** A stream that reported an error before any content, kept in case it is all there is to pass on. */
      readonly held: UpstreamAnswer | null;
    }
  | { readonly kind: 'delivered'; readonly delivery: Delivery }
  | { readonly kind: 'client_gone' };

export interface Delivery {
  readonly state: AttemptOutcome;
  readonly cause: string | null;
  readonly status: number;
  readonly usage: Usage | null;
  /** What the client was given when usage was never reported: one token a content frame. */
  readonly streamedTokens: number;
  readonly firstByteMs: number;
}

/** What an upstream's answer is fed to, event by event. */
export interface UpstreamListener {
  onHead(head: UpstreamHead, flow: Flow): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onFailure(code: FailureCode, internal: string): void;
}

export interface Flow {
  pause(): void;
  resume(): void;
  abort(): void;
}
