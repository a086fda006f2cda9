import {
  anyText,
  exactly,
  type Fields,
  flag,
  id,
  integer,
  listOf,
  nullable,
  number,
  oneOf,
  recordOf,
  time,
} from '../shape.ts';
import { cause, stage, verdict } from './guardrail.ts';
import { endpointLimitUsage } from './limit.ts';
import {
  health,
  healthDetail,
  maybeCount,
  maybeId,
  maybeText,
  maybeTime,
  metric,
  operation,
  period,
} from './shared.ts';

/** 2.10 */
export const statsSummary = exactly({
  providers: integer,
  endpoints: integer,
  lanes: integer,
  requests: integer,
  request_states: exactly({ completed: integer, failed: integer, cancelled: integer }),
});

const requestFields: Fields = {
  request_id: id,
  client_request_id: maybeText,
  state: oneOf('completed', 'failed', 'cancelled'),
  operation,
  model: maybeText,
  streaming: flag,
  http_status: integer,
  error_code: maybeText,
  user_uuid: maybeId,
  api_key_id: maybeId,
  lane_id: maybeId,
  endpoint_id: maybeId,
  provider_id: maybeId,
  upstream_model: maybeText,
  arrived_at: time,
  dispatched_at: maybeTime,
  first_content_at: maybeTime,
  finished_at: time,
  wait_ms: integer,
  wait_budget_ms: maybeCount,
  duration_ms: integer,
  fallback_count: integer,
  estimated_input_tokens: maybeCount,
  estimated_output_tokens: maybeCount,
  estimated_cost_micros: maybeCount,
  input_tokens: maybeCount,
  output_tokens: maybeCount,
  cached_input_tokens: maybeCount,
  total_tokens: maybeCount,
  cost_micros: maybeCount,
  cost_usd: maybeText,
  usage_source: oneOf('reported', 'streamed', 'estimated', 'none'),
  team_id: maybeId,
  parent_team_id: maybeId,
  labels: recordOf(anyText),
};
export const requestPage = exactly({ data: listOf(exactly(requestFields)), next_cursor: maybeText });
const namedLimit: Fields = {
  policy_id: id,
  policy_kind: oneOf('resource', 'user', 'api_key', 'team'),
  subject_id: maybeId,
  subject_name: maybeText,
  scope_type: anyText,
  scope_id: maybeId,
  scope_name: maybeText,
  metric,
  period,
  limit_value: maybeCount,
};
const boundPolicy = exactly({ ...namedLimit, resets_at: maybeTime });
export const requestDetail = exactly({
  ...requestFields,
  cache_write_5m_tokens: maybeCount,
  cache_write_1h_tokens: maybeCount,
  credential_id: maybeId,
  bound_policy: nullable(boundPolicy),
  attempts: listOf(
    exactly({
      attempt: integer,
      endpoint_id: id,
      provider_id: id,
      upstream_model: anyText,
      outcome: oneOf('succeeded', 'failed', 'cancelled'),
      upstream_status: maybeCount,
      error_code: maybeText,
      started_at: maybeTime,
      wait_ms: maybeCount,
      duration_ms: integer,
      upstream_request_id: maybeText,
      translated_to: maybeText,
      left_out: listOf(anyText),
      upstream_message: maybeText,
    }),
  ),
  candidates: listOf(
    exactly({
      endpoint_id: id,
      endpoint_name: maybeText,
      rank: integer,
      verdict: anyText,
      reason: anyText,
      wait_ms: maybeCount,
    }),
  ),
  guardrails: listOf(
    exactly({ guardrail_id: id, stage, verdict, cause, latency_ms: integer, skipped_parts: maybeCount }),
  ),
  trace_id: maybeText,
  reported_usage: nullable(
    exactly({ input_tokens: integer, output_tokens: integer, cached_input_tokens: integer }),
  ),
  usage_details: nullable(
    exactly({
      reasoning_tokens: integer,
      audio_input_tokens: integer,
      image_input_tokens: integer,
      audio_output_tokens: integer,
      image_output_tokens: integer,
      service_tier: maybeText,
    }),
  ),
  cost_lines: nullable(
    listOf(exactly({ kind: anyText, tokens: maybeCount, price_micros: integer, cost_usd: anyText })),
  ),
  timings: exactly({
    receive_ms: maybeCount,
    route_ms: maybeCount,
    guard_ms: maybeCount,
    admit_ms: maybeCount,
    wait_ms: maybeCount,
    upstream_first_byte_ms: maybeCount,
    first_content_ms: maybeCount,
    total_ms: maybeCount,
  }),
});

export const timeseries = exactly({
  metric: anyText,
  group_by: anyText,
  bucket: oneOf('minute', 'hour', 'day'),
  from: time,
  to: time,
  series: listOf(
    exactly({
      kind: oneOf('all', 'group', 'none', 'other'),
      key: maybeText,
      label: anyText,
      total: nullable(number),
      points: listOf(exactly({ at: time, value: nullable(number) })),
    }),
  ),
});
const inFlightFields: Fields = { endpoint_id: id, waiting: integer, in_flight: integer };
export const live = exactly({
  at: time,
  counted: oneOf('organization', 'own'),
  lanes: listOf(
    exactly({
      lane_id: maybeId,
      waiting: integer,
      waiting_by_priority: exactly({ interactive: integer, standard: integer, batch: integer }),
      longest_wait_ms: integer,
      next_slot_ms: maybeCount,
      limited_by: listOf(exactly({ ...namedLimit, waiting: integer })),
      in_flight: integer,
      fallbacks: integer,
      rejections: integer,
      endpoints: listOf(exactly(inFlightFields)),
    }),
  ),
  endpoints: listOf(
    exactly({
      ...inFlightFields,
      max_concurrency: maybeCount,
      health,
      health_detail: healthDetail,
      cooldown_until: maybeTime,
    }),
  ),
});
const spendSums: Fields = {
  cost_micros: integer,
  cost_usd: anyText,
  metered_requests: integer,
  unpriced_requests: integer,
};
export const spend = exactly({
  at: time,
  counted: oneOf('organization', 'own'),
  today: exactly({ from: time, ...spendSums }),
  month: exactly({
    from: time,
    to: time,
    ...spendSums,
    forecast_micros: maybeCount,
    budget_micros: maybeCount,
    over_budget_at: maybeTime,
    days: listOf(integer),
  }),
});
const rangeFields: Fields = { bucket: oneOf('minute', 'hour', 'day'), from: time, to: time };
export const endpointStats = exactly({
  ...rangeFields,
  counted: oneOf('organization', 'own'),
  limits: oneOf('read', 'no_access', 'unavailable'),
  endpoints: listOf(
    exactly({
      endpoint_id: id,
      endpoint_name: anyText,
      provider_id: id,
      health,
      health_detail: healthDetail,
      cooldown_until: maybeTime,
      requests: integer,
      served: integer,
      failed: integer,
      cancelled: integer,
      rejected: integer,
      series: listOf(integer),
      ttft_ms_p50: maybeCount,
      ttft_ms_p95: maybeCount,
      duration_ms_p95: maybeCount,
      errors: listOf(exactly({ error_code: maybeText, requests: integer })),
      ...spendSums,
      tightest_limit: nullable(endpointLimitUsage),
    }),
  ),
});
const trafficFields: Fields = {
  requests: integer,
  served: integer,
  failed: integer,
  cancelled: integer,
  rejected: integer,
  fallbacks: integer,
  ...spendSums,
};
const trafficPage: Fields = { ...rangeFields, counted: oneOf('organization', 'own') };
const rowFields: Fields = { ...trafficFields, series: listOf(integer), wait_ms_p95: maybeCount };
export const laneStats = exactly({
  ...trafficPage,
  lanes: listOf(exactly({ lane_id: maybeId, lane_name: maybeText, ...rowFields })),
  other: nullable(exactly({ lanes: integer, ...trafficFields })),
});
export const apiKeyStats = exactly({
  ...trafficPage,
  api_keys: listOf(exactly({ api_key_id: maybeId, api_key_name: maybeText, ...rowFields })),
  other: nullable(exactly({ api_keys: integer, ...trafficFields })),
});
export const failures = exactly({
  ...rangeFields,
  requests: integer,
  causes: listOf(
    exactly({
      error_code: maybeText,
      requests: integer,
      first_at: time,
      last_at: time,
      example_request_id: maybeId,
      http_status: maybeCount,
      provider_id: maybeId,
      endpoint_id: maybeId,
      lane_id: maybeId,
      guardrail_id: maybeId,
      limited_by: nullable(boundPolicy),
      summary: anyText,
      action: nullable(
        exactly({
          kind: anyText,
          resource_type: maybeText,
          resource_id: maybeText,
          resource_name: maybeText,
        }),
      ),
      no_action: maybeText,
    }),
  ),
  other_requests: integer,
});
export const waitDistribution = exactly({
  from: time,
  to: time,
  requests: integer,
  undispatched: integer,
  bins: listOf(exactly({ from_ms: integer, up_to_ms: maybeCount, requests: integer })),
});
export const meteredUsage = exactly({
  bucket: oneOf('hour', 'day'),
  from: time,
  to: time,
  rows: listOf(
    exactly({
      at: time,
      provider_id: maybeId,
      endpoint_id: maybeId,
      upstream_model: maybeText,
      requests: integer,
      failed_requests: integer,
      estimated_requests: integer,
      input_tokens: integer,
      cached_input_tokens: integer,
      output_tokens: integer,
      cost_usd: anyText,
    }),
  ),
});

const usageFields: Fields = {
  requests: integer,
  metered_requests: integer,
  estimated_requests: integer,
  unpriced_requests: integer,
  input_tokens: integer,
  cached_input_tokens: integer,
  output_tokens: integer,
  metered_spend_micros: maybeCount,
  metered_spend_usd: maybeText,
};
export const usageStatement = exactly({
  month: anyText,
  period_start: time,
  period_end: time,
  complete: flag,
  basis: oneOf('configured_prices'),
  currency: oneOf('USD'),
  totals: exactly(usageFields),
  lines: listOf(
    exactly({
      user_uuid: maybeId,
      user_name: maybeText,
      api_key_id: maybeId,
      api_key_name: maybeText,
      ...usageFields,
    }),
  ),
  next_cursor: maybeText,
});

const showbackSums: Fields = {
  requests: integer,
  metered_requests: integer,
  input_tokens: integer,
  cached_input_tokens: integer,
  output_tokens: integer,
  cost_micros: integer,
  cost_usd: anyText,
};

export const showback = exactly({
  group_by: anyText,
  from: time,
  to: time,
  total: exactly(showbackSums),
  lines: listOf(
    exactly({ kind: oneOf('group', 'none', 'other'), key: maybeText, label: anyText, ...showbackSums }),
  ),
});
