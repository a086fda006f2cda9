import type { RequestRecord } from '../domain/request-record.ts';
import type { LedgerRow } from '../store/append-requests.ts';

/** A terminal record as a row of the ledger. */
export function ledgerRow(record: RequestRecord, settledAtMs: number): LedgerRow {
  const metered = record.usageSource !== 'none';
  return {
    request_id: record.requestId,
    organization_id: record.organizationId,
    user_id: record.userId,
    key_id: record.keyId,
    lane_id: record.laneId,
    endpoint_id: record.endpointId,
    provider_id: record.providerId,
    upstream_model: record.upstreamModel,
    client_request_id: record.clientRequestId,
    operation: record.operation,
    streaming: record.streaming,
    state: record.state,
    status: record.status,
    error_code: record.cause,
    attempts: record.attempts.map((attempt) => ({
      endpoint_id: attempt.endpointId,
      provider_id: attempt.providerId,
      upstream_model: attempt.upstreamModel,
      status: attempt.status,
      outcome: attempt.outcome,
      cause: attempt.cause,
      latency_ms: attempt.latencyMs,
    })),
    fallback_count: Math.max(0, record.attempts.length - 1),
    wait_ms: record.waitMs,
    ttft_ms: record.ttftMs,
    latency_ms: record.latencyMs,
    estimated_input_tokens: record.estimatedInputTokens,
    estimated_output_tokens: record.estimatedOutputTokens,
    estimated_cost_micros: record.estimatedCostMicros ?? 0,
    actual_input_tokens: metered ? record.actualInputTokens : null,
    actual_cached_input_tokens: metered ? record.actualCachedInputTokens : null,
    actual_output_tokens: metered ? record.actualOutputTokens : null,
    actual_cost_micros: record.actualCostMicros,
    usage_source: record.usageSource,
    bound_policy_id: null,
    settled_at: new Date(settledAtMs).toISOString(),
  };
}
