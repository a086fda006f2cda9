import type { Operation } from '@relay/contract';
import type { GuardrailCause, GuardrailStage, GuardrailVerdict } from './guardrails/verdict.ts';
import type { PolicyDescription } from './limits/limit.ts';
import type { Usage } from './money/usage.ts';
import type { Attribution } from './teams.ts';

/** What was reported beyond input, output and cache. */
export type UsageDetails = Pick<
  Usage,
  | 'reasoningTokens'
  | 'audioInputTokens'
  | 'imageInputTokens'
  | 'audioOutputTokens'
  | 'imageOutputTokens'
  | 'serviceTier'
>;

export type RequestState = 'completed' | 'failed' | 'cancelled';

/**
 * Where token counts come from: the provider, the text that passed, or the estimate (under hard limits, what they reserved). `none`: nothing was
 * used.
 */
export type UsageSource = 'reported' | 'streamed' | 'estimated' | 'none';

/** Usage and cost of one attempt. */
export interface AttemptUse {
  readonly source: Exclude<UsageSource, 'none'>;
  readonly usage: Usage;
  /** Rounded up, as limits count it. Null: the endpoint has no price. */
  readonly costMicros: number | null;
  /** The amount that the rounding added, in 10⁻¹² dollar; absent: 0. */
  readonly costRoundingPicos?: number;
}

/** How what the provider got differs from what the client sent. */
export interface Translated {
  /** Null where both speak the same protocol, and only thinking that Relay wrote was left out. */
  readonly to: Operation | null;
  readonly leftOut: readonly string[];
}

export interface RecordedAttempt {
  readonly endpointId: string;
  readonly providerId: string;
  readonly upstreamModel: string;
  readonly status: number | null;
  readonly outcome: RequestState;
  readonly cause: string | null;
  /** From the arrival of the request to this dispatch. */
  readonly startedMs?: number;
  /** Time that the request waited for capacity since the previous attempt. */
  readonly waitMs?: number;
  readonly latencyMs: number;
  /** True if a byte of the attempt left for the provider; absent in records of earlier versions. No limit or sum counts an attempt that was not sent. */
  readonly sent?: boolean;
  /** Absent if the attempt used nothing, and in records of earlier versions. */
  readonly use?: AttemptUse;
  readonly credentialId?: string | null;
  /** The provider's own ID of the request. */
  readonly upstreamRequestId?: string;
  /** What the provider said about Relay's credential or address, without any part of the credential or the request. */
  readonly upstreamMessage?: string;
  readonly translated?: Translated;
}

/** How often a request moved on to another endpoint. Another attempt at the same endpoint does not count. */
export function fallbacksOf(attempts: readonly { readonly endpointId: string }[]): number {
  return attempts.filter(
    ({ endpointId }, index) => index > 0 && attempts[index - 1]?.endpointId !== endpointId,
  ).length;
}

/** The limit that made a request wait or rejected it. */
export interface BoundPolicy {
  readonly id: string;
  readonly kind: PolicyDescription['policy_kind'];
  readonly scopeType: PolicyDescription['scope_type'];
  readonly scopeId: string | null;
  readonly metric: PolicyDescription['metric'];
  readonly period: PolicyDescription['period'];
  readonly resetsAtMs: number | null;
}

/** One line of the decision trace. */
export interface RecordedCandidate {
  readonly endpointId: string;
  readonly rank: number;
  readonly verdict:
    | 'selected'
    | 'available'
    | 'would_wait'
    | 'limited'
    | 'unhealthy'
    | 'incompatible'
    | 'unpriced'
    | 'unbounded'
    | 'disabled';
  readonly reason: string;
  readonly waitMs: number | null;
}

/** How long each step took; null for a step that was not reached. */
export interface RequestTimings {
  readonly receiveMs: number | null;
  readonly routeMs: number | null;
  readonly guardMs: number | null;
  readonly admitMs: number | null;
  readonly waitMs: number | null;
  /** From the dispatch of the last attempt. */
  readonly upstreamFirstByteMs: number | null;
  /** From arrival, as `totalMs`. */
  readonly firstContentMs: number | null;
  readonly totalMs: number | null;
}

/** A guardrail's verdict; never what it saw. */
export interface RecordedGuardrail {
  readonly guardrailId: string;
  readonly stage: GuardrailStage;
  readonly verdict: GuardrailVerdict;
  readonly latencyMs: number;
  /** Why it was unavailable; absent with every other verdict. */
  readonly cause?: GuardrailCause;
  /** How many parts had no text to inspect; absent when all had. */
  readonly skippedParts?: number;
}

/**
 * The one terminal record of a request: numbers and identifiers, never text of the request or of an answer to it. It travels as JSON through
 * a stream that gateways of several versions write, so newer members are optional.
 */
export interface RequestRecord extends Attribution {
  /** Of the format: 1 where it is absent. A change that a reader of the version before would misread gets another. */
  readonly v?: number;
  /** No other deployment's ledger takes it. Absent in records of earlier versions. */
  readonly deploymentId?: string | undefined;
  readonly requestId: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly keyId: string | null;
  readonly clientRequestId: string | null;
  readonly operation: Operation;
  /** As the client sent it. */
  readonly model?: string | null;
  readonly streaming: boolean;
  readonly laneId: string | null;
  /** The endpoint of the last attempt; null when there was none. */
  readonly endpointId: string | null;
  readonly providerId: string | null;
  readonly credentialId?: string | null;
  readonly upstreamModel: string | null;
  readonly state: RequestState;
  readonly status: number;
  readonly cause: string | null;
  readonly boundPolicy?: BoundPolicy | null;
  readonly attempts: readonly RecordedAttempt[];
  readonly candidates?: readonly RecordedCandidate[];
  readonly guardrails?: readonly RecordedGuardrail[];
  readonly timings?: RequestTimings | null;
  readonly arrivedAtMs: number;
  readonly waitMs: number;
  /** The longest it might wait for capacity; absent when it was not routed. */
  readonly waitBudgetMs?: number;
  readonly ttftMs: number | null;
  readonly latencyMs: number;
  readonly estimatedInputTokens: number;
  readonly estimatedOutputTokens: number;
  readonly estimatedCostMicros: number | null;
  readonly usageSource: UsageSource;
  readonly actualInputTokens: number;
  readonly actualOutputTokens: number;
  readonly actualCachedInputTokens: number;
  /** Absent: none. */
  readonly actualCacheWrite5mTokens?: number;
  readonly actualCacheWrite1hTokens?: number;
  /** Rounded up, as limits count it. */
  readonly actualCostMicros: number | null;
  /** The amount that the rounding added, in 10⁻¹² dollar; absent: 0. */
  readonly actualCostRoundingPicos?: number;
  /** What the provider reported, where that is more than can be true; the actual counts are bounded then. */
  readonly reportedUsage?: Usage;
  /** Parts of the actual counts that are rare, and the service tier; absent: none was reported. */
  readonly usageDetails?: UsageDetails;
  /** Of OpenTelemetry; absent unless the request was traced. */
  readonly traceId?: string;
}
