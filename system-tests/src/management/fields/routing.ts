import {
  anyText,
  anything,
  exactly,
  type Fields,
  flag,
  id,
  integer,
  listOf,
  nullable,
  oneOf,
  openTo,
  recordOf,
  slug,
  time,
  url,
} from '../shape.ts';
import { stage } from './guardrail.ts';
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

/** 2.3 */
const providerFields: Fields = {
  id,
  name: anyText,
  slug,
  base_url: url,
  auth_mode: oneOf(
    'bearer_static',
    'header_static',
    'aws_sigv4',
    'google_service_account',
    'client_certificate',
    'none',
  ),
  enabled: flag,
  auth_header_name: maybeText,
  aws_region: maybeText,
  aws_service: maybeText,
  max_latency_ms: integer,
  has_credential: flag,
  health,
  health_detail: healthDetail,
  preset_slug: maybeText,
  extra_headers: nullable(recordOf(anyText)),
  extra_query: nullable(recordOf(anyText)),
  health_probe: oneOf('off', 'models', 'request'),
};
export const provider = exactly(providerFields);

export const providerPreset = exactly({
  slug,
  name: anyText,
  base_url: url,
  protocol: oneOf('openai', 'anthropic'),
  route_kind: oneOf('chat', 'responses', 'embeddings', 'messages', 'multi'),
  auth_mode: oneOf(
    'bearer_static',
    'header_static',
    'aws_sigv4',
    'google_service_account',
    'client_certificate',
    'none',
  ),
  auth_header_name: maybeText,
  extra_headers: nullable(recordOf(anyText)),
  extra_query: nullable(recordOf(anyText)),
  model_list: maybeText,
  quirks: exactly({
    path_prefix: anyText,
    dropped_parameters: listOf(anyText),
    renamed_parameters: recordOf(anyText),
  }),
  documentation: url,
});

export const credential = exactly({
  id,
  provider_id: id,
  name: anyText,
  enabled: flag,
  created_at: time,
  last_used_at: maybeTime,
});

export const endpoint = exactly({
  id,
  provider_id: id,
  credential_id: maybeId,
  name: anyText,
  slug,
  upstream_model: anyText,
  route_kind: oneOf('chat', 'responses', 'embeddings', 'messages', 'multi'),
  protocol: oneOf('openai', 'anthropic'),
  supports_streaming: flag,
  pacing: flag,
  max_concurrency: maybeCount,
  context_window: maybeCount,
  max_latency_ms: integer,
  enabled: flag,
  health,
  health_detail: healthDetail,
  cooldown_until: maybeTime,
});

export const pricingPolicy = exactly({
  id,
  endpoint_id: id,
  currency: oneOf('USD'),
  input_cost_micros_per_1m_tokens: integer,
  output_cost_micros_per_1m_tokens: integer,
  cached_input_cost_micros_per_1m_tokens: maybeCount,
  cache_write_5m_cost_micros_per_1m_tokens: maybeCount,
  cache_write_1h_cost_micros_per_1m_tokens: maybeCount,
  audio_input_cost_micros_per_1m_tokens: maybeCount,
  image_input_cost_micros_per_1m_tokens: maybeCount,
  reasoning_cost_micros_per_1m_tokens: maybeCount,
  audio_output_cost_micros_per_1m_tokens: maybeCount,
  image_output_cost_micros_per_1m_tokens: maybeCount,
  flat_request_cost_micros: integer,
  variants: listOf(recordOf(anything)),
  scheduled: listOf(recordOf(anything)),
  source: oneOf('catalog', 'manual', 'litellm', 'models_dev'),
  as_of: time,
});

export const pricePlan = exactly({
  source: oneOf('litellm', 'models_dev', 'catalog'),
  as_of: time,
  plan_hash: anyText,
  rows: listOf(
    exactly({
      endpoint_id: id,
      endpoint_name: anyText,
      provider_name: anyText,
      upstream_model: anyText,
      action: oneOf('add', 'change', 'same', 'removed', 'ambiguous', 'unlisted'),
      held_back: nullable(oneOf('factor', 'zero')),
      factor: anything,
      managed_by_file: flag,
      current_source: nullable(anyText),
      current_as_of: nullable(time),
      listed_as: listOf(anyText),
      changes: listOf(exactly({ field: anyText, before: anything, after: anything })),
      context_window: maybeCount,
      output_tokens_max: maybeCount,
      capabilities: listOf(anyText),
    }),
  ),
});
export const priceApplied = exactly({ applied: listOf(id), held_back: listOf(id) });
export const modelFacts = exactly({
  context_window: maybeCount,
  input_cost_micros_per_1m_tokens: maybeCount,
  output_cost_micros_per_1m_tokens: maybeCount,
});

/** 2.4 */
const laneFields: Fields = {
  id,
  name: anyText,
  slug,
  default_max_wait_ms: integer,
  allow_fallback: flag,
  enabled: flag,
  description: maybeText,
  selection: oneOf('preferred', 'soonest'),
  priority: oneOf('interactive', 'standard', 'batch'),
  hidden: flag,
  shadows_model: flag,
};
export const lane = exactly(laneFields);
/** One lane, alone, has its members. */
export const laneDetail = exactly({
  ...laneFields,
  members: listOf(exactly({ id, endpoint_id: id, manual_rank: integer, enabled: flag })),
});
/** What the configuration file owns says so. */
export const laneOfFile = exactly({ ...laneFields, managed_by: oneOf('file') });

/** 2.5 */
export const membership = exactly({ id, lane_id: id, endpoint_id: id, manual_rank: integer, enabled: flag });

const testStage = oneOf('resolve', 'connect', 'tls', 'authenticate', 'respond');
const testFields: Fields = {
  ok: flag,
  outcome: anyText,
  message: anyText,
  stopped_at: nullable(testStage),
  host: anyText,
  latency_ms: integer,
  upstream_status: maybeCount,
  upstream_message: maybeText,
  stages: listOf(
    exactly({
      stage: testStage,
      status: oneOf('ok', 'failed', 'skipped'),
      latency_ms: maybeCount,
      message: anyText,
    }),
  ),
};
export const providerTest = exactly({
  ...testFields,
  model_count: maybeCount,
  protocol: nullable(oneOf('openai', 'anthropic')),
  model_ids: listOf(anyText),
});
export const endpointTest = exactly({ ...testFields, operation });

const limitingPolicy = exactly({ policy_id: id, scope: anyText, metric, period, resets_at: maybeTime });
const candidate = exactly({
  endpoint_id: id,
  endpoint_name: anyText,
  provider_id: id,
  upstream_model: anyText,
  rank: integer,
  verdict: anyText,
  reason: anyText,
  wait_ms: maybeCount,
  limited_by: nullable(limitingPolicy),
  estimated_cost_micros: maybeCount,
  reserved: nullable(
    exactly({
      input_tokens: integer,
      output_tokens: integer,
      cost_micros: maybeCount,
      output_cap: maybeCount,
    }),
  ),
  translated_to: maybeText,
  left_out: listOf(anyText),
  guardrail_ids: listOf(id),
});
export const explanation = exactly({
  operation,
  model: anyText,
  resolved_as: oneOf('lane', 'provider_model', 'model', 'unknown'),
  lane_id: maybeId,
  streaming: flag,
  outcome: oneOf('dispatch', 'wait', 'refuse'),
  selected_endpoint_id: maybeId,
  wait_ms: maybeCount,
  wait_budget_ms: maybeCount,
  retry_after_ms: maybeCount,
  error_code: maybeText,
  reason: maybeText,
  limited_by: nullable(limitingPolicy),
  estimated_input_tokens: integer,
  estimated_output_tokens: integer,
  guardrail_ids: listOf(id),
  guardrails: listOf(
    exactly({
      guardrail_id: id,
      stages: listOf(stage),
      bound_to: listOf(exactly({ target_type: anyText, target_id: maybeId })),
    }),
  ),
  candidates: listOf(candidate),
});

/** An item of the file has the fields of its create body that differ from their defaults, and never a secret. */
const items = listOf(recordOf(anything));
export const configFile = openTo(
  {
    providers: items,
    credentials: items,
    endpoints: items,
    lanes: items,
    memberships: items,
    pricing_policies: items,
    limit_policies: items,
    guardrails: items,
    guardrail_bindings: items,
  },
  { version: oneOf(1) },
);
export const configPlan = exactly({
  plan_hash: anyText,
  creates: integer,
  updates: integer,
  deletes: integer,
  releases: integer,
  changes: listOf(
    exactly({
      action: oneOf('create', 'update', 'delete', 'release'),
      section: anyText,
      key: anyText,
      id: maybeId,
      fields: listOf(exactly({ field: anyText, before: anything, after: anything })),
    }),
  ),
  orphaned: listOf(exactly({ section: anyText, key: anyText, id })),
  required_secrets: listOf(anyText),
  secrets: listOf(
    exactly({
      section: anyText,
      key: anyText,
      secret_ref: anyText,
      state: oneOf('changed', 'unchanged', 'unknown'),
    }),
  ),
});
