import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LimitMetric } from '@relay/contract';
import type { Refusal } from '../admission/engine.ts';
import type { Caller } from '../domain/caller.ts';
import type { TemplateValues } from '../domain/guardrails/template.ts';
import type { Reservation } from '../domain/limits/hard-reservation.ts';
import type { TokenEstimate, Usage } from '../domain/money/usage.ts';
import { RelayError } from '../domain/relay-error.ts';
import type { AttemptUse, RecordedGuardrail, Translated } from '../domain/request-record.ts';
import type { Route } from '../domain/routing/routing.ts';
import type { UpstreamFault } from '../domain/routing/upstream-verdict.ts';
import type { OrganizationSnapshot } from '../domain/snapshot.ts';
import type { Trace } from '../kit/tracing/tracer.ts';
import type { AskedRequest } from '../protocols/asked-request.ts';
import type { Protocol } from '../protocols/protocol.ts';
import type { InferenceBody } from '../protocols/request-body.ts';

/**
 * One request and what the steps find out about it. Each step fills in its part and reads no part of a later step. The
 * pipeline creates it and is the only code that passes it on.
 */
export interface Exchange {
  readonly requestId: string;
  readonly clientRequestId: string | null;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** What the client speaks. */
  readonly protocol: Protocol;
  readonly caller: Caller;
  /** What the request is decided on; a newer one once it is routed again. */
  snapshot: OrganizationSnapshot;
  readonly arrivedAtMs: number;
  /** Monotonic; every duration of the exchange is measured from here. */
  readonly startMs: number;
  /** Null unless the request is traced. */
  readonly trace: Trace | null;
  /** As the client sent it, cut to a maximum length; null until the body is read. */
  model: string | null;
  streaming: boolean;
  /** What the client asks for, in whose words candidates can be asked; null until the body is read. */
  asked: AskedRequest | null;
  /** Null until routing finds the name. */
  route: Route | null;
  readonly guard: ExchangeGuard;
  readonly marks: ExchangeMarks;
  readonly decisions: ExchangeDecisions;
  readonly attempts: AttemptRecord[];
  /** What hard limits hold for the candidate that was admitted last; null where none applies. */
  reservation: Reservation | null;
  /** What the last attempt's provider reported, where that is more than can be true and was bounded; otherwise null. */
  reportedUsage: Usage | null;
  /** The preset of the last attempt's provider; null when there was none. */
  presetSlug: string | null;
  /** Time spent waiting for capacity, over all attempts. */
  waitMs: number;
  /** The limits of the candidate that was admitted last. */
  rateWindows: readonly RateWindow[];
  /** Time spent waiting for providers, over all attempts, up to the first byte sent to the client. */
  upstreamMs: number;
  /** Null unless the exchange has to end early. */
  stopped: StopReason | null;
  /**
   * What has to stop when the exchange ends early. An object and not a closure over the step's variables: such closures
   * kept requests alive after they ended and made young-generation garbage collection several times more expensive.
   */
  inCharge: InCharge | null;
}

/** The part of the guard step. */
export interface ExchangeGuard {
  /** Guardrails are looked up here: the exchange's own snapshot until a newer one is read before a dispatch. */
  snapshot: OrganizationSnapshot;
  /** What guardrails see of the request; null until the first one is asked. */
  shown: Shown | null;
  readonly verdicts: RecordedGuardrail[];
  /** Time spent waiting for guardrails; null when none was asked. */
  tookMs: number | null;
}

/** What a guardrail sees, and how many parts of the body have no text. */
export interface Shown {
  readonly values: TemplateValues;
  readonly skippedParts: number;
}

/** Monotonic times and durations, for the request record; null for a step that the exchange did not reach. */
export interface ExchangeMarks {
  receivedMs: number | null;
  routedMs: number | null;
  /** Time spent asking for capacity, over all attempts, without the wait itself. */
  admitMs: number | null;
  /** From the last dispatch to the provider's head. */
  upstreamFirstByteMs: number | null;
}

/** What admission decided, for the request record. */
export interface ExchangeDecisions {
  /** The limit that last made the request wait or rejected it, by the engine's id. */
  bound: { readonly policyId: string; readonly resetsAtMs: number | null } | null;
  /** The endpoint that the request waits for. The wait is null behind a concurrency limit, because its end is unknown. */
  awaited: { readonly endpointId: string; readonly waitMs: number | null } | null;
  refused: Refusal['reason'] | null;
  /** Endpoints that were left out because they are down, and why. */
  skipped: readonly { readonly endpointId: string; readonly reason: string }[];
  /** The endpoint that is down and was tried with this request. */
  probed: string | null;
}

/** A limit of the endpoint that serves the request, after the reservation. */
export interface RateWindow {
  readonly metric: LimitMetric;
  readonly limit: number;
  readonly used: number;
  readonly resetMs: number;
}

/** The client disconnected, or gets this error because the process stops. */
export type StopReason = 'client_gone' | RelayError;

export interface InCharge {
  stop(reason: StopReason): void;
}

/** The first reason counts. A step that starts later finds it in the exchange. */
export function stopExchange(exchange: Exchange, reason: StopReason): void {
  if (exchange.stopped !== null) return;
  exchange.stopped = reason;
  exchange.inCharge?.stop(reason);
}

/** What the client asks for; only steps after the body was read may call it. */
export function askedOf({ asked }: Exchange): AskedRequest {
  if (asked !== null) return asked;
  throw new RelayError('internal_error', { internal: 'the request was not read' });
}

export interface RoutedRequest {
  readonly body: InferenceBody;
  readonly route: Route;
  readonly estimate: TokenEstimate;
  /** Of one choice under this name, without a limit on the output. */
  readonly typicalOutputTokens: number;
}

export type AttemptOutcome = 'completed' | 'failed' | 'cancelled';

export interface AttemptRecord {
  readonly endpointId: string;
  readonly providerId: string;
  readonly upstreamModel: string;
  /** From the arrival of the request to this dispatch. */
  readonly startedMs: number;
  /** Time that the request waited for capacity since the previous attempt. */
  readonly waitMs: number;
  /** Null when no response arrived. */
  status: number | null;
  outcome: AttemptOutcome;
  cause: string | null;
  latencyMs: number;
  /** True once a byte of the attempt left for the provider. */
  sent: boolean;
  /** Usage of the attempt; absent while it runs, and if it used nothing. */
  use?: AttemptUse;
  readonly credentialId: string | null;
  /** The provider's own ID of the request. */
  upstreamRequestId?: string;
  /** What the provider said about Relay's credential or address; absent when it said nothing that may be kept. */
  upstreamMessage?: string;
  /** What the request was translated to, and the fields that were left out; absent where it was passed through. */
  translated?: Translated;
}

export interface UpstreamHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Anything but a 2xx. Relay does not follow redirects, so a redirect is a failure. */
export function isFailure(status: number): boolean {
  return status >= 300;
}

/** A complete upstream response in memory; nothing of it was sent to the client. */
export interface UpstreamAnswer extends UpstreamHead {
  readonly body: Buffer;
}

/** How one attempt ended. Only `delivered` has sent anything to the client. */
export type AttemptResult = AttemptEnd & { readonly metered: Metered };

/**
 * Usage that arrived from the provider. The meter reads beside the delivery, so it does not matter whether the client got the answer.
 */
export interface Metered {
  /** True once a byte of the request left for the provider. */
  readonly sent: boolean;
  /** Usage with input and output; null unless the provider reported both. */
  readonly reported: Usage | null;
  /** A report without input or without output. Null: the provider reported nothing, or both. */
  readonly inPart: Partial<Usage> | null;
  /** Tokens of the text that arrived: one for each frame of a stream, and by bytes in any other answer. */
  readonly streamedTokens: number;
}

export type AttemptEnd =
  | { readonly kind: 'answer'; readonly answer: UpstreamAnswer }
  | {
      readonly kind: 'failure';
      readonly fault: AttemptFault;
      /** What reported an error in a 200, before any content. It is sent to the client if no other attempt succeeds. */
      readonly held: UpstreamAnswer | null;
    }
  | { readonly kind: 'delivered'; readonly delivery: Delivery }
  /** The exchange ended early, before anything was sent. */
  | { readonly kind: 'stopped' };

/** What the client gets if no other attempt succeeds. Null: an error of Relay's, or the attempt has ended the exchange. */
export function heldAnswer(end: AttemptEnd): UpstreamAnswer | null {
  if (end.kind === 'answer') return end.answer;
  return end.kind === 'failure' ? end.held : null;
}

/** Why an attempt has no answer. */
export interface AttemptFault {
  readonly code: UpstreamFault;
  /** In words for the client: no text of the provider, no credential. */
  readonly why: string;
  /** One of Relay's deadlines has passed. If nothing was sent, the request may have waited for a connection of Relay's own pool. */
  readonly deadline?: true;
  /** Replaces the code's `retry`: true if the same request can succeed. */
  readonly retry?: true;
  /** For the log only. */
  readonly internal?: string;
}

export interface Delivery {
  readonly state: AttemptOutcome;
  readonly cause: string | null;
  readonly status: number;
  /** Monotonic times; there is no content if the answer ended before it. */
  readonly firstByteMs: number;
  readonly firstContentMs: number | null;
}

/** Receives an upstream's answer, event by event. */
export interface UpstreamListener {
  /** Called when the first byte of the request leaves for the provider. */
  onSent(): void;
  onHead(head: UpstreamHead, flow: Flow): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onFailure(fault: AttemptFault): void;
}

export interface Flow {
  pause(): void;
  resume(): void;
  abort(): void;
}

/** What every line of the log about the request has. */
export function logged({ requestId, trace }: Exchange): {
  readonly request_id: string;
  readonly trace_id?: string;
} {
  return trace === null ? { request_id: requestId } : { request_id: requestId, trace_id: trace.traceId };
}

/** The time that Relay itself took until then, without the wait for capacity, the provider and guardrails. */
export function overheadMsOf({ startMs, waitMs, upstreamMs, guard }: Exchange, nowMs: number): number {
  return Math.max(0, nowMs - startMs - waitMs - upstreamMs - (guard.tookMs ?? 0));
}
