import { anyText, exactly, type Fields, flag, id, integer, listOf, nullable, oneOf, time } from '../shape.ts';
import { maybeCount, maybeId, maybeText, maybeTime, metric, period } from './shared.ts';

const destinationFields: Fields = {
  id,
  name: anyText,
  kind: oneOf('webhook', 'mail'),
  url: maybeText,
  address: maybeText,
  enabled: flag,
  created_at: time,
};

export const alertDestination = exactly(destinationFields);
export const alertDestinationCreated = exactly({ ...destinationFields, secret: anyText });
export const alertTest = exactly({ ok: flag, status: maybeCount, message: anyText, latency_ms: integer });

export const alerts = exactly({
  data: listOf(
    exactly({
      id,
      type: oneOf('limit.threshold', 'limit.forecast'),
      created_at: time,
      policy: exactly({
        id,
        policy_kind: oneOf('resource', 'user', 'api_key', 'team'),
        subject_id: maybeId,
        scope_type: oneOf('global', 'provider', 'credential', 'endpoint', 'model', 'lane'),
        scope_id: maybeId,
        metric,
        period,
      }),
      window: exactly({ start: time, end: time }),
      threshold_percent: maybeCount,
      used: integer,
      limit: integer,
      forecast_exhausted_at: maybeTime,
      deliveries: listOf(
        exactly({
          destination_id: id,
          destination_name: anyText,
          kind: oneOf('webhook', 'mail'),
          state: oneOf('pending', 'delivered', 'dead'),
          attempts: integer,
          last_status: maybeCount,
          last_error: maybeText,
          next_attempt_at: maybeTime,
          delivered_at: maybeTime,
        }),
      ),
    }),
  ),
  next_cursor: nullable(anyText),
});
