import { anyText, exactly, id, integer, listOf, nullable, oneOf, time } from '../shape.ts';
import { maybeCount, maybeId, metric, period } from './shared.ts';

const whatIfFigures = exactly({
  served: integer,
  rejected: integer,
  rejections: listOf(exactly({ code: anyText, requests: integer })),
  waited: integer,
  wait_ms: integer,
  wait_ms_p50: integer,
  wait_ms_p95: integer,
  wait_ms_rejected: integer,
  fallbacks: integer,
  cost_micros: integer,
  unpriced: integer,
});
const whatIfPart = exactly({ served: integer, rejected: integer, wait_ms: integer, cost_micros: integer });

const rejecting = listOf(
  exactly({
    policy_id: id,
    policy_kind: oneOf('resource', 'user', 'api_key', 'team'),
    subject_id: maybeId,
    scope_type: anyText,
    scope_id: maybeId,
    scope_name: nullable(anyText),
    metric,
    period,
    limit: integer,
    requests: integer,
  }),
);
const part = {
  requests: integer,
  summary: anyText,
  history: whatIfFigures,
  before: whatIfFigures,
  after: whatIfFigures,
  rejecting,
};

export const whatIf = exactly({
  summary: anyText,
  from: time,
  to: time,
  requests: integer,
  left_out: integer,
  cut: nullable(oneOf('requests', 'time')),
  took_ms: integer,
  history: whatIfFigures,
  before: whatIfFigures,
  after: whatIfFigures,
  rejecting,
  limit: nullable(exactly(part)),
  lanes: listOf(
    exactly({
      lane_id: id,
      lane_name: anyText,
      ...part,
    }),
  ),
  keys: listOf(exactly({ key_id: maybeId, user_id: maybeId, before: whatIfPart, after: whatIfPart })),
  limits: listOf(
    exactly({
      policy_id: id,
      policy_kind: oneOf('resource', 'user', 'api_key', 'team'),
      scope_type: anyText,
      scope_id: maybeId,
      metric,
      period,
      limit_before: maybeCount,
      limit_after: maybeCount,
      rejected_before: integer,
      rejected_after: integer,
      waited_before: integer,
      waited_after: integer,
    }),
  ),
  endpoints: listOf(
    exactly({
      endpoint_id: id,
      endpoint_name: anyText,
      served_before: integer,
      served_after: integer,
      cost_micros_before: integer,
      cost_micros_after: integer,
    }),
  ),
});
