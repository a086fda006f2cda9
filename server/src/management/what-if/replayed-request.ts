import type { ErrorCode, Operation } from '@relay/contract';
import { wasSent } from '../../domain/attempt-sums.ts';
import type { TokenEstimate, Usage } from '../../domain/money/usage.ts';
import { entryIn } from '../../kit/entry-in.ts';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import { protocols } from '../../protocols/index.ts';
import type { FailedAttempt, ReplayedRow } from '../../store/ledger/log/read-replayed.ts';

/** Rejections that lanes, limits and prices decide. All others would be the same with every configuration. */
const DECIDED_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'rate_limit_wait_budget_exceeded',
  'budget_exhausted',
  'request_exceeds_limit',
  'queue_full',
  'model_not_found',
  'no_route',
  'unpriced',
  'unbounded_request',
]);
/** For requests that were never served, where no request of their lane was. */
const SERVICE_MS_DEFAULT = 1_000;

export interface FailedReplay {
  readonly endpointId: string;
  readonly tookMs: number;
  readonly isSent: boolean;
  readonly usage: Usage;
}

/** One request as a replay sends it. */
export interface ReplayedRequest {
  readonly id: string;
  /** When it asked for capacity. */
  readonly askMs: number;
  readonly userId: string | null;
  readonly keyId: string | null;
  readonly laneId: string | null;
  /** Null where it was not recorded. */
  readonly model: string | null;
  readonly operation: Operation;
  readonly streaming: boolean;
  readonly estimate: TokenEstimate;
  /** From its last release to its end, and what its last attempt used; null when it was never sent. */
  readonly serviceMs: number | null;
  readonly usage: Usage | null;
  /** Attempts that failed and were followed by another. */
  readonly failed: readonly FailedReplay[];
  /** The client disconnected while it waited, after this time; null when it did not. */
  readonly leavesAfterMs: number | null;
  /** What it met when it was sent. */
  readonly met: {
    readonly rejectedWith: string | null;
    readonly waitMs: number;
    readonly fallbacks: number;
    /** Null where the price was unknown. */
    readonly costMicros: number | null;
  };
}

/** Null for a request that ended before it asked for capacity, for a reason that no lane, limit or price decides. */
export function replayedRequest(row: ReplayedRow): ReplayedRequest | null {
  const isSent = row.attempt_count > 0;
  const isRejected = !isSent && DECIDED_CODES.has(row.error_code ?? '');
  const hasLeft = !isSent && row.state === 'cancelled' && row.wait_ms > 0;
  if (!isSent && !isRejected && !hasLeft) return null;
  // Reading the body, guardrails and the ask itself come before the wait.
  const beforeMs = isSent ? askedAfterMs(row) : row.latency_ms - row.wait_ms;
  const releasedMs = row.attempt_count > 1 ? row.last_started_ms : beforeMs + row.wait_ms;
  return {
    id: row.request_id,
    askMs: uuidTimeMs(row.request_id) + Math.max(0, beforeMs),
    userId: row.user_id,
    keyId: row.key_id,
    laneId: row.lane_id,
    model: row.model,
    operation: row.operation,
    streaming: row.streaming,
    estimate: {
      inputTokens: row.estimated_input_tokens,
      outputTokens: row.estimated_output_tokens,
      ...freeIf(row.operation),
    },
    serviceMs: isSent ? Math.max(0, row.latency_ms - (releasedMs ?? row.wait_ms)) : null,
    usage: isSent ? usageOf(row) : null,
    failed: (row.failed ?? []).map((attempt) => ({
      endpointId: attempt.endpoint_id,
      tookMs: attempt.latency_ms,
      isSent: wasSent(attempt),
      usage: { ...usageOfFailed(attempt), ...freeIf(row.operation) },
    })),
    leavesAfterMs: hasLeft ? row.wait_ms : null,
    met: {
      rejectedWith: isRejected ? row.error_code : null,
      waitMs: row.wait_ms,
      fallbacks: row.fallback_count,
      costMicros: row.actual_cost_micros ?? (isSent && row.usage_source !== 'none' ? null : 0),
    },
  };
}

/** From its arrival, as far as the time was recorded: otherwise, just before its dispatch without its wait. */
function askedAfterMs(row: ReplayedRow): number {
  if (row.asked_ms !== null && row.asked_ms > 0) return row.asked_ms;
  return (row.first_started_ms ?? row.wait_ms) - (row.first_wait_ms ?? row.wait_ms);
}

/** Returns the row's usage minus the usage of the attempts before the last one. */
function usageOf(row: ReplayedRow): Usage {
  const before = (row.failed ?? []).map(usageOfFailed);
  const without = (total: number, part: keyof ReturnType<typeof usageOfFailed>) =>
    before.reduce((rest, usage) => rest - usage[part], total);
  return {
    inputTokens: without(row.actual_input_tokens ?? row.estimated_input_tokens, 'inputTokens'),
    outputTokens: without(row.actual_output_tokens ?? row.estimated_output_tokens, 'outputTokens'),
    cachedInputTokens: without(row.actual_cached_input_tokens ?? 0, 'cachedInputTokens'),
    cacheWrite5mTokens: without(row.actual_cache_write_5m_tokens, 'cacheWrite5mTokens'),
    cacheWrite1hTokens: without(row.actual_cache_write_1h_tokens, 'cacheWrite1hTokens'),
    ...freeIf(row.operation),
  };
}

function usageOfFailed({ use }: FailedAttempt) {
  return {
    inputTokens: use?.input_tokens ?? 0,
    outputTokens: use?.output_tokens ?? 0,
    cachedInputTokens: use?.cached_input_tokens ?? 0,
    cacheWrite5mTokens: use?.cache_write_5m_tokens ?? 0,
    cacheWrite1hTokens: use?.cache_write_1h_tokens ?? 0,
  };
}

function freeIf(operation: Operation): { readonly free?: true } {
  return protocols[operation].isFree ? { free: true } : {};
}

/** What requests take that were never sent: as those of their lane that were, as far as they are known. */
export interface TypicalService {
  add(requests: readonly ReplayedRequest[]): void;
  of(request: ReplayedRequest): Pick<ReplayedRequest, 'estimate'> & {
    readonly serviceMs: number;
    readonly usage: Usage;
  };
}

interface Sums {
  requests: number;
  serviceMs: number;
  inputTokens: number;
  outputTokens: number;
}

export function createTypicalService(): TypicalService {
  const byName = new Map<string, Sums>();
  const all = noSums();
  return {
    add(requests) {
      for (const request of requests) {
        const { serviceMs, usage } = request;
        if (serviceMs === null || usage === null) continue;
        for (const sums of [entryIn(byName, nameOf(request), noSums), all]) {
          sums.requests += 1;
          sums.serviceMs += serviceMs;
          sums.inputTokens += usage.inputTokens;
          sums.outputTokens += usage.outputTokens;
        }
      }
    },
    of(request) {
      const { serviceMs, usage, estimate } = request;
      if (serviceMs !== null && usage !== null) return { serviceMs, usage, estimate };
      const { requests: count, ...sums } = byName.get(nameOf(request)) ?? all;
      const mean = (sum: number) => Math.round(sum / Math.max(1, count));
      const isEstimated = estimate.inputTokens + estimate.outputTokens > 0;
      const inputTokens = isEstimated ? estimate.inputTokens : mean(sums.inputTokens);
      const outputTokens = count > 0 ? mean(sums.outputTokens) : estimate.outputTokens;
      return {
        serviceMs: count > 0 ? mean(sums.serviceMs) : SERVICE_MS_DEFAULT,
        usage: { inputTokens, outputTokens, cachedInputTokens: 0, ...freeIf(request.operation) },
        estimate: isEstimated ? estimate : { ...estimate, inputTokens, outputTokens },
      };
    },
  };
}

function noSums(): Sums {
  return { requests: 0, serviceMs: 0, inputTokens: 0, outputTokens: 0 };
}

function nameOf({ laneId, model }: ReplayedRequest): string {
  return laneId ?? model ?? '';
}
