import type { AdmissionDesk } from '../../admission/desk.ts';
import { sumOfAttempts } from '../../domain/attempt-sums.ts';
import { usageDetails } from '../../domain/metered-usage.ts';
import { costMicros } from '../../domain/money/money.ts';
import type { RequestRecord, RequestState } from '../../domain/request-record.ts';
import { attributionOf } from '../../domain/teams.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Log } from '../../kit/log.ts';
import { actualOf } from '../attempt-use.ts';
import { type Exchange, logged, overheadMsOf, type RoutedRequest } from '../exchange.ts';
import { boundPolicyOf } from './bound-policy.ts';
import { decisionTrace } from './decision-trace.ts';
import { endTrace, type TraceEnd } from './end-trace.ts';
import { timingsOf } from './timings.ts';

export interface Ending {
  readonly state: RequestState;
  readonly status: number;
  readonly cause: string | null;
  /** Monotonic time of the first byte to the client; null when none was sent. */
  readonly firstByteMs: number | null;
  /** Monotonic time of the first content, which in a stream may be later. Absent: that of the first byte. */
  readonly firstContentMs?: number | null;
}

/** What the record does not have, for metrics. */
export interface SettledFigures {
  /** Relay's own time up to the first byte of the response; null when none was sent. */
  readonly overheadMs: number | null;
  /** From arrival to the first byte of the response; null when none was sent. */
  readonly firstByteMs: number | null;
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
  const { firstByteMs, firstContentMs = firstByteMs } = ending;
  const timings = timingsOf(exchange, firstContentMs, settleMs);
  const estimate = routed?.estimate ?? { inputTokens: 0, outputTokens: 0 };
  const pricing = last === undefined ? undefined : exchange.snapshot.pricing.get(last.endpointId);
  const lastUse = exchange.attempts.findLast(({ use }) => use !== undefined)?.use;
  const record: RequestRecord = {
    deploymentId: exchange.snapshot.deploymentId,
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
    credentialId: last?.credentialId ?? null,
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
    ...sumOfAttempts(exchange.attempts),
    ...(lastUse !== undefined && usageDetails(lastUse.usage)),
    ...(exchange.reportedUsage === null ? {} : { reportedUsage: exchange.reportedUsage }),
    ...(exchange.trace !== null && { traceId: exchange.trace.traceId }),
  };
  deps.desk.settle(record.organizationId, record.requestId, actualOf(last), JSON.stringify(record));
  report(deps, exchange, record, { firstByteMs, settleMs });
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
  const byteMs = firstByteMs === null ? null : Math.round(firstByteMs - exchange.startMs);
  onSettled?.(record, { overheadMs, firstByteMs: byteMs, presetSlug });
  if (isRejected(exchange, record)) desk.rejected(record.organizationId, record);
  if (trace === null) return;
  log.debug({ ...logged(exchange), state: record.state, status: record.status }, 'request traced');
  endTrace(trace, exchange, { record, firstByteMs, settleMs, endMs: clock.monotonicMs() });
}

/** A limit kept it from being sent. After an attempt, the client gets the response of that attempt instead. */
function isRejected({ decisions }: Exchange, { status, attempts }: RequestRecord): boolean {
  return status === 429 && attempts.length === 0 && decisions.refused !== null;
}
