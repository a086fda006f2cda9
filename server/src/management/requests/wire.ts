import type { BoundPolicy, RequestAttempt, RequestDetail } from '@relay/contract';
import { wasSent } from '../../domain/attempt-sums.ts';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import type { StoredAttempt, StoredTrace } from '../../store/ledger/ledger-json.ts';
import { costOf, toRequestLogEntry } from '../../store/ledger/log/log-entry.ts';
import type { DetailRow } from '../../store/ledger/log/read-log.ts';
import { type AttemptUse, attemptUsesOf } from './attempt-uses.ts';

/** The ids of the endpoints in the trace. */
export function endpointIdsOf({ trace }: DetailRow): string[] {
  return [...new Set(trace?.candidates.map(({ endpoint_id }) => endpoint_id) ?? [])];
}

export function toRequestDetail(
  row: DetailRow,
  endpointNames: ReadonlyMap<string, string>,
  boundPolicy: BoundPolicy | null,
  costLines: RequestDetail['cost_lines'],
): RequestDetail {
  const { trace } = row;
  const isMetered = row.actual_input_tokens !== null;
  return {
    ...toRequestLogEntry(row),
    cache_write_5m_tokens: isMetered ? row.actual_cache_write_5m_tokens : null,
    cache_write_1h_tokens: isMetered ? row.actual_cache_write_1h_tokens : null,
    credential_id: row.credential_id,
    bound_policy: boundPolicy,
    attempts: attemptsOf(row),
    candidates: (trace?.candidates ?? []).map((candidate) => ({
      endpoint_id: candidate.endpoint_id,
      endpoint_name: endpointNames.get(candidate.endpoint_id) ?? null,
      rank: candidate.rank,
      verdict: candidate.verdict as RequestDetail['candidates'][number]['verdict'],
      reason: candidate.reason,
      wait_ms: candidate.wait_ms,
    })),
    guardrails: (trace?.guardrails ?? []).map((said) => ({
      guardrail_id: said.guardrail_id,
      stage: said.stage,
      verdict: said.verdict,
      cause: (said.cause ?? null) as RequestDetail['guardrails'][number]['cause'],
      latency_ms: said.latency_ms,
      skipped_parts: said.skipped_parts ?? null,
    })),
    trace_id: trace?.trace_id ?? null,
    reported_usage: trace?.reported_usage ?? null,
    usage_details: trace?.usage_details ?? null,
    cost_lines: costLines,
    timings: timingsOf(row, trace),
  };
}

const OUTCOMES = { completed: 'succeeded', failed: 'failed', cancelled: 'cancelled' } as const;

function attemptsOf(row: DetailRow): RequestAttempt[] {
  const uses = attemptUsesOf(row);
  const arrivedAtMs = uuidTimeMs(row.request_id);
  return row.attempts.map((attempt, index) => ({
    ...attemptOf(attempt, index, arrivedAtMs),
    sent: wasSent(attempt),
    ...usedBy(uses[index] ?? null),
  }));
}

type Used = 'usage_source' | `${'input' | 'output' | 'cached_input'}_tokens` | 'cost_micros' | 'cost_usd';

function usedBy(use: AttemptUse | null): Pick<RequestAttempt, Used> {
  if (use === null) return USED_NOTHING;
  return {
    usage_source: use.usage_source,
    input_tokens: use.actual_input_tokens,
    output_tokens: use.actual_output_tokens,
    cached_input_tokens: use.actual_cached_input_tokens,
    ...costOf(use),
  };
}

const USED_NOTHING = {
  usage_source: 'none',
  input_tokens: null,
  output_tokens: null,
  cached_input_tokens: null,
  cost_micros: null,
  cost_usd: null,
} as const;

function attemptOf(
  attempt: StoredAttempt,
  index: number,
  arrivedAtMs: number,
): Omit<RequestAttempt, 'sent' | Used> {
  const startedMs = attempt.started_ms ?? null;
  return {
    attempt: index + 1,
    endpoint_id: attempt.endpoint_id,
    provider_id: attempt.provider_id,
    upstream_model: attempt.upstream_model,
    outcome: OUTCOMES[attempt.outcome],
    upstream_status: attempt.status,
    error_code: attempt.cause,
    started_at: startedMs === null ? null : timestamp(arrivedAtMs + startedMs),
    wait_ms: attempt.wait_ms ?? null,
    duration_ms: attempt.latency_ms,
    upstream_request_id: attempt.upstream_request_id ?? null,
    translated_to: attempt.translated_to ?? null,
    left_out: [...(attempt.left_out ?? [])],
    upstream_message: attempt.upstream_message ?? null,
  };
}

/** Falls back to columns of the row for timings that the trace lacks. */
function timingsOf(row: DetailRow, trace: StoredTrace | null): RequestDetail['timings'] {
  const timings = trace?.timings ?? null;
  return {
    receive_ms: timings?.receive_ms ?? null,
    route_ms: timings?.route_ms ?? null,
    guard_ms: timings?.guard_ms ?? null,
    admit_ms: timings?.admit_ms ?? null,
    wait_ms: timings?.wait_ms ?? row.wait_ms,
    upstream_first_byte_ms: timings?.upstream_first_byte_ms ?? null,
    first_content_ms: timings?.first_content_ms ?? row.ttft_ms,
    total_ms: timings?.total_ms ?? row.latency_ms,
  };
}

function timestamp(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
