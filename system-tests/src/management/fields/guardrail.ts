import {
  anyText,
  anything,
  exactly,
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
import { maybeCount, maybeId, maybeText } from './shared.ts';

export const stage = oneOf('pre_dispatch', 'post_response');
export const verdict = oneOf('allowed', 'flagged', 'replaced', 'blocked', 'unavailable');
export const cause = nullable(
  oneOf(
    'timeout',
    'unreachable',
    'bad_status',
    'malformed',
    'too_large',
    'no_rule_matched',
    'circuit_open',
    'busy',
  ),
);
const responseRule = openTo(
  { value: anything, replacement: anyText },
  { path: anyText, operator: anyText, action: oneOf('allow', 'block', 'log', 'replace') },
);

/** 2.6 */
export const guardrail = exactly({
  id,
  name: anyText,
  preset_slug: anyText,
  base_url: url,
  http_method: oneOf('POST', 'PUT'),
  auth_mode: oneOf('none', 'bearer_static', 'header_static'),
  pre_dispatch_enabled: flag,
  enabled: flag,
  has_credential: flag,
  binding_count: integer,
  slug,
  priority: integer,
  timeout_ms: integer,
  post_response_enabled: flag,
  failure_mode: oneOf('fail_closed', 'fail_open'),
  request_template: nullable(recordOf(anything)),
  response_rules: nullable(listOf(responseRule)),
  secret_header_name: maybeText,
  max_request_bytes: integer,
  max_response_bytes: integer,
});
export const guardrailBinding = exactly({
  id,
  guardrail_id: id,
  target_type: oneOf('global', 'lane', 'provider', 'endpoint'),
  target_id: maybeId,
  enabled: flag,
});
export const guardrailDetail = exactly({ guardrail, bindings: listOf(guardrailBinding) });
export const guardrailPreset = exactly({
  slug,
  name: anyText,
  description: anyText,
  base_url: url,
  http_method: anyText,
  auth_mode: anyText,
  secret_header_name: maybeText,
  request_template: nullable(recordOf(anything)),
  response_rules: nullable(listOf(responseRule)),
  documentation: maybeText,
});
export const guardrailTest = exactly({
  verdict,
  stage,
  sent: anything,
  received: nullable(exactly({ status: integer, body: anyText, truncated: flag })),
  cause,
  latency_ms: integer,
  matched_rule: nullable(responseRule),
  message: anyText,
});

const measured = {
  allowed: integer,
  flagged: integer,
  replaced: integer,
  blocked: integer,
  unavailable: integer,
  latency_ms_p50: maybeCount,
  latency_ms_p95: maybeCount,
};
const timeShown = { bucket: oneOf('minute', 'hour', 'day'), from: time, to: time };
export const guardrailTotals = exactly({
  ...timeShown,
  guardrails: listOf(exactly({ guardrail_id: id, ...measured })),
});
export const guardrailStats = exactly({
  guardrail_id: id,
  ...timeShown,
  total: exactly(measured),
  points: listOf(exactly({ at: time, ...measured })),
  streaming_requests: integer,
  embedding_requests: integer,
});
