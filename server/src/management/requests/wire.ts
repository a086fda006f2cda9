import type { RequestAttempt, RequestDetail, RequestLogEntry } from '@relay/contract';
import type { StoredAttempt, StoredBoundPolicy, StoredTrace } from '../../store/ledger/ledger-json.ts';
import { timeOfRequestId } from '../../store/ledger/ledger-partitions.ts';
import type { DetailRow, EntryRow } from '../../store/ledger/log/read-log.ts';

export function toRequestLogEntry(row: EntryRow): RequestLogEntry {
  const arrivedAtMs = timeOfRequestId(row.request_id);
  const after = (ms: number | null) => (ms === null ? null : timestamp(arrivedAtMs + ms));
  const { actual_input_tokens: input, actual_output_tokens: output } = row;
  return {
    request_id: row.request_id,
    client_request_id: row.client_request_id,
    state: row.state,
    operation: row.operation,
    model: row.model,
    streaming: row.streaming,
    http_status: row.status,
    error_code: row.error_code,
    user_uuid: row.user_id,
    api_key_id: row.key_id,
    lane_id: row.lane_id,
    endpoint_id: row.endpoint_id,
    provider_id: row.provider_id,
    upstream_model: row.upstream_model,
    arrived_at: timestamp(arrivedAtMs),
    dispatched_at: after(row.dispatched_ms),
    first_content_at: after(row.ttft_ms),
    finished_at: timestamp(arrivedAtMs + row.latency_ms),
    wait_ms: row.wait_ms,
    duration_ms: row.latency_ms,
    fallback_count: row.fallback_count,
    estimated_input_tokens: row.estimated_input_tokens,
    estimated_output_tokens: row.estimated_output_tokens,
    estimated_cost_micros: row.estimated_cost_micros,
    input_tokens: input,
    output_tokens: output,
    cached_input_tokens: row.actual_cached_input_tokens,
    total_tokens: input === null || output === null ? null : input + output,
    cost_micros: row.actual_cost_micros,
    usage_source: row.usage_source,
  };
}

/** The endpoints of the trace that it names, by id. */
export function endpointIdsOf({ trace }: DetailRow): string[] {
  return [...new Set(trace?.candidates.map(({ endpoint_id }) => endpoint_id) ?? [])];
}

export function toRequestDetail(row: DetailRow, endpointNames: ReadonlyMap<string, string>): RequestDetail {
  const { trace } = row;
  return {
    ...toRequestLogEntry(row),
    credential_id: row.credential_id,
    bound_policy: boundPolicyOf(row.bound_policy),
    attempts: row.attempts.map((attempt, index) =>
      attemptOf(attempt, index, timeOfRequestId(row.request_id)),
    ),
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
    timings: timingsOf(row, trace),
  };
}

function boundPolicyOf(policy: StoredBoundPolicy | null): RequestDetail['bound_policy'] {
  if (policy === null) return null;
  const { policy_id, kind, scope_type, scope_id, metric, period, resets_at } = policy;
  return { policy_id, policy_kind: kind, scope_type, scope_id, metric, period, resets_at };
}

const OUTCOMES = { completed: 'succeeded', failed: 'failed', cancelled: 'cancelled' } as const;

function attemptOf(attempt: StoredAttempt, index: number, arrivedAtMs: number): RequestAttempt {
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
  };
}

/** What the columns know stands in for timings that were not recorded. */
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
