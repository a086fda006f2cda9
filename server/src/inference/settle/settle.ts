import type { AdmissionDesk } from '../../admission/desk.ts';
import type { Reservation } from '../../domain/limits/hard-reservation.ts';
import { meteredCost, meteredUsage } from '../../domain/metered-usage.ts';
import { costMicros } from '../../domain/money/money.ts';
import type { Usage } from '../../domain/money/usage.ts';
import type { RequestRecord, RequestState, UsageSource } from '../../domain/request-record.ts';
import type { Pricing } from '../../domain/snapshot.ts';
import { attributionOf } from '../../domain/teams.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Log } from '../../kit/log.ts';
import { type Exchange, isFailure, logged, overheadMsOf, type RoutedRequest } from '../exchange.ts';
import { boundPolicyOf } from './bound-policy.ts';
import { decisionTrace } from './decision-trace.ts';
import { endTrace, type TraceEnd } from './end-trace.ts';
import { timingsOf } from './timings.ts';

export interface Ending {
  readonly state: RequestState;
  readonly status: number;
  readonly cause: string | null;
  readonly usage: Usage | null;
  /** Set when a part of `usage` is what Relay estimated or counted, because the stream ended before the provider reported it. */
  readonly usageInPart?: Partial<Usage>;
  readonly streamedTokens: number;
  /** Monotonic time of the first byte to the client; null when none was sent. */
  readonly firstByteMs: number | null;
  /** The provider answered completely, but a guardrail or a disconnect kept the answer from the client. It is metered nevertheless. */
  readonly withheld?: boolean;
}

/** What the record does not have, for metrics. */
export interface SettledFigures {
  /** Relay's own time up to the first byte of the response; null when none was sent. */
  readonly overheadMs: number | null;
  /** The preset of the last attempt's provider. */
  readonly presetSlug: string | null;
}

export interface SettleDeps {
  readonly desk: Pick<AdmissionDesk, 'settle' | 'rejected'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with every terminal record, for metrics. Must be quick. */
  readonly onSettled?: (record: RequestRecord, figures: SettledFigures) => void;
}

/** Writes the exchange's one terminal record and answers nothing. `routed` is null when the request ended before routing. */
export function settle(
  deps: SettleDeps,
  exchange: Exchange,
  routed: RoutedRequest | null,
  ending: Ending,
): void {
  const last = exchange.attempts.at(-1);
  const settleMs = deps.clock.monotonicMs();
  const timings = timingsOf(exchange, ending.firstByteMs, settleMs);
  const estimate = routed?.estimate ?? { inputTokens: 0, outputTokens: 0 };
  const pricing = last === undefined ? undefined : exchange.snapshot.pricing.get(last.endpointId);
  const { source, usage } = actualUsage(exchange, routed, ending);
  const record: RequestRecord = {
    requestId: exchange.requestId,
    organizationId: exchange.caller.organizationId,
    userId: exchange.caller.userId,
    keyId: exchange.caller.keyId,
    ...attributionOf(exchange.snapshot, exchange.caller),
    clientRequestId: exchange.clientRequestId,
    operation: exchange.protocol.operation,
    model: exchange.model,
    streaming: exchange.streaming,
    laneId: exchange.route?.lane?.id ?? null,
    endpointId: last?.endpointId ?? null,
    providerId: last?.providerId ?? null,
    credentialId: exchange.credentialId,
    upstreamModel: last?.upstreamModel ?? null,
    state: ending.state,
    status: ending.status,
    cause: ending.cause,
    boundPolicy: boundPolicyOf(exchange),
    attempts: exchange.attempts,
    candidates: decisionTrace(exchange),
    ...(exchange.guard.verdicts.length === 0 ? {} : { guardrails: exchange.guard.verdicts }),
    timings,
    arrivedAtMs: exchange.arrivedAtMs,
    waitMs: Math.round(exchange.waitMs),
    ...(exchange.route !== null && { waitBudgetMs: exchange.route.maxWaitMs }),
    ttftMs: timings.firstContentMs,
    latencyMs: timings.totalMs,
    estimatedInputTokens: estimate.inputTokens,
    estimatedOutputTokens: estimate.outputTokens,
    estimatedCostMicros:
      pricing === undefined ? null : costMicros(pricing, { ...estimate, cachedInputTokens: 0 }),
    usageSource: source,
    ...meteredUsage(usage),
    ...costOf(
      pricing,
      source === 'none' ? null : usage,
      source === 'estimated' ? exchange.reservation : null,
    ),
    ...(exchange.reportedUsage === null ? {} : { reportedUsage: exchange.reportedUsage }),
    ...(exchange.trace !== null && { traceId: exchange.trace.traceId }),
  };
  const actual = {
    dispatched: last !== undefined && last.cause !== 'upstream_not_prepared',
    tokens: usage.inputTokens + usage.outputTokens,
    spendMicros: record.actualCostMicros ?? 0,
  };
  deps.desk.settle(record.organizationId, record.requestId, actual, JSON.stringify(record));
  report(deps, exchange, record, { firstByteMs: ending.firstByteMs, settleMs });
}

/** For metrics, the view of live traffic, the trace and the log. */
function report(
  { desk, onSettled, clock, log }: SettleDeps,
  exchange: Exchange,
  record: RequestRecord,
  { firstByteMs, settleMs }: Pick<TraceEnd, 'firstByteMs' | 'settleMs'>,
): void {
  const { trace, presetSlug } = exchange;
  const overheadMs = firstByteMs === null ? null : overheadMsOf(exchange, firstByteMs);
  onSettled?.(record, { overheadMs, presetSlug });
  if (isRejected(exchange, record)) desk.rejected(record.organizationId, record);
  if (trace === null) return;
  log.debug({ ...logged(exchange), state: record.state, status: record.status }, 'request traced');
  endTrace(trace, exchange, { record, firstByteMs, settleMs, endMs: clock.monotonicMs() });
}

/** A limit kept it from being sent. After an attempt, the client gets the response of that attempt instead. */
function isRejected({ decisions }: Exchange, { status, attempts }: RequestRecord): boolean {
  return status === 429 && attempts.length === 0 && decisions.refused !== null;
}

function costOf(
  pricing: Pricing | undefined,
  usage: Usage | null,
  reservation: Reservation | null,
): Pick<RequestRecord, 'actualCostMicros' | 'actualCostRoundingPicos'> {
  if (pricing === undefined || usage === null) return { actualCostMicros: null };
  if (reservation !== null) return { actualCostMicros: reservation.spendMicros };
  return meteredCost(pricing, usage);
}

/**
 * What the provider reported, otherwise what it must have processed: the input and the streamed output. A provider that answered
 * with an error did no work that it bills.
 */
function actualUsage(
  exchange: Exchange,
  routed: RoutedRequest | null,
  ending: Ending,
): { source: UsageSource; usage: Usage } {
  if (ending.usage !== null)
    return { source: ending.usageInPart === undefined ? 'reported' : 'estimated', usage: ending.usage };
  const nothing = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
  const last = exchange.attempts.at(-1);
  const refusedByProvider = last?.status != null && isFailure(last.status);
  if (routed === null || last === undefined || refusedByProvider || last.cause === 'upstream_not_prepared') {
    return { source: 'none', usage: nothing };
  }
  // Under hard limits, what was not reported is what may have been used at most.
  if (exchange.reservation !== null) {
    const { inputTokens, outputTokens } = exchange.reservation;
    return { source: 'estimated', usage: { inputTokens, outputTokens, cachedInputTokens: 0 } };
  }
  // An answer in one piece is sent when it is written: a client that leaves after its first byte leaves after all of the work. One that leaves
  // when the attempt has failed, and another was to follow, has used what limits were told of it.
  const leftWritten =
    ending.state === 'cancelled' && !exchange.streaming && last.status !== null && last.outcome !== 'failed';
  const isWritten = ending.state === 'completed' || ending.withheld === true || leftWritten;
  const whole = isWritten && ending.streamedTokens === 0;
  return {
    source: 'estimated',
    usage: {
      ...routed.estimate,
      outputTokens: whole ? routed.estimate.outputTokens : ending.streamedTokens,
      cachedInputTokens: 0,
    },
  };
}
