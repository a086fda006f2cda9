import { randomUUIDv7 } from 'node:crypto';
import type { LedgerRow } from './ledger-row.ts';

/** For tests: a completed request of a new organization, to be appended with `appendRequests`. */
export function sampleRow(over: Partial<LedgerRow> = {}): LedgerRow {
  return {
    request_id: randomUUIDv7(),
    organization_id: randomUUIDv7(),
    user_id: null,
    key_id: null,
    lane_id: null,
    endpoint_id: null,
    provider_id: null,
    credential_id: null,
    model: 'chat',
    upstream_model: 'model-1',
    client_request_id: null,
    operation: 'chat',
    streaming: false,
    state: 'completed',
    status: 200,
    error_code: null,
    bound_policy: null,
    attempts: [],
    trace: null,
    fallback_count: 0,
    wait_ms: 0,
    ttft_ms: null,
    latency_ms: 12,
    estimated_input_tokens: 5,
    estimated_output_tokens: 5,
    estimated_cost_micros: 5,
    actual_input_tokens: 5,
    actual_cached_input_tokens: 0,
    actual_cache_write_5m_tokens: 0,
    actual_cache_write_1h_tokens: 0,
    actual_output_tokens: 5,
    actual_cost_micros: 2 ** 40,
    actual_cost_rounding_picos: 0,
    usage_source: 'reported',
    settled_at: new Date('2026-11-15T00:00:00.123Z'),
    ...over,
  };
}
