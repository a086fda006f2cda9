import type { RequestLogEntry } from '@relay/contract';
import { exactUsd, picosOf, shownMicros } from '../../../domain/money/money.ts';
import { uuidTimeMs } from '../../../kit/uuid-time.ts';
import type { EntryRow } from './read-log.ts';

/** A row as the API shows it in lists, and as sinks write it. */
export function toRequestLogEntry(row: EntryRow): RequestLogEntry {
  const arrivedAtMs = uuidTimeMs(row.request_id);
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
    total_tokens:
      input === null || output === null ? null : Math.min(Number.MAX_SAFE_INTEGER, input + output),
    ...costOf(row),
    usage_source: row.usage_source,
    team_id: row.team_id,
    parent_team_id: row.parent_team_id,
    labels: row.labels ?? {},
    wait_budget_ms: row.wait_budget_ms,
  };
}

type Cost = Pick<EntryRow, 'actual_cost_micros' | 'actual_cost_rounding_picos'>;

/** Of a row, or of one of its attempts. */
export function costOf({ actual_cost_micros: micros, actual_cost_rounding_picos: roundingPicos }: Cost) {
  if (micros === null) return { cost_micros: null, cost_usd: null };
  const picos = picosOf({ micros, roundingPicos });
  return { cost_micros: shownMicros(picos), cost_usd: exactUsd(picos) };
}

function timestamp(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
