import Type, { type Static } from 'typebox';
import { closed, flag, integer, nullable, oneOf, optional, query, Timestamp } from '../schema.ts';
import { healthStates, operations, requestStates, wireProtocols } from '../words/choices.ts';

/** Enumerations that several resources share. */
export const Health = oneOf(healthStates, {
  description:
    'Health from recent requests on all gateways. `unknown`: no recent requests. `down`: Relay uses other candidates, and tries this one again with single requests. `rate_limited`: the provider requested a pause (cooldown).',
});
export type Health = Static<typeof Health>;

export const HealthDetail = closed('HealthDetail', {
  reason: nullable(Type.String(), { description: 'Why it is not healthy, such as "connection refused".' }),
  since: nullable(Timestamp, { description: 'When it entered this state; null for `unknown`.' }),
  requests: integer({ description: 'Attempts that ended in the last 5 minutes.' }),
  error_share: nullable(Type.Number({ minimum: 0, maximum: 1 }), {
    description: 'The share of those that failed; null if there were none.',
  }),
  last_error: nullable(
    closed('HealthError', {
      at: Timestamp,
      message: Type.String({ description: 'What happened; never the provider’s own text.' }),
      status: nullable(integer(), { description: 'The provider’s HTTP status, if it responded.' }),
    }),
  ),
});
export type HealthDetail = Static<typeof HealthDetail>;

/** Every metric that a limit can count. `server/src/domain/limits/metric.ts` says how each is counted. */
export const limitMetrics = ['requests', 'tokens', 'spend', 'concurrency'] as const;
export type LimitMetric = (typeof limitMetrics)[number];
export const LimitMetric = oneOf(limitMetrics, {
  description: 'What is counted; `spend` is in micro-USD. `concurrency` requires period `none`.',
});

export const limitPeriods = ['second', 'minute', 'hour', 'day', 'week', 'month', 'none'] as const;
export type LimitPeriod = (typeof limitPeriods)[number];
export const LimitPeriod = oneOf(limitPeriods, {
  description: 'The window; a week begins on Monday at 00:00 UTC. `none` is for metric `concurrency` only.',
});

export const TargetType = oneOf(['global', 'provider', 'model', 'lane'], {
  description: '`model` targets one endpoint.',
});

export const PolicyScopeType = oneOf(['global', 'provider', 'credential', 'endpoint', 'lane']);

export const ManagedBy = oneOf(['file'], {
  description:
    'Set if the resource is managed by file. Changing it any other way then returns 409 `managed_by_file`.',
});

/** Says of one write that it may change what callable names stand for. It is not stored. */
export const TakesOver = optional(
  flag({
    default: false,
    description:
      'Allow this write to change what an existing callable name stands for, or to add a name that differs from another only in case or white space at its ends. Otherwise such a write returns 409 `name_taken`.',
  }),
);
export const TakesOverQuery = query({ takes_over: TakesOver });

const NameMeaning = closed('NameMeaning', {
  kind: oneOf(['lane', 'model', 'provider_model'], {
    description: '`provider_model`: a model at one provider, as `provider/model`.',
  }),
  name: Type.String({ description: 'The slug of the lane, or the model.' }),
});

export const NameChange = closed('NameChange', {
  name: Type.String({ description: 'The callable name.' }),
  kind: oneOf(['taken', 'alike'], {
    description:
      '`taken`: requests that name it go elsewhere. `alike`: it keeps its meaning, and a new name differs from it at most in case or white space at its ends.',
  }),
  before: NameMeaning,
  after: NameMeaning,
});
export type NameChange = Static<typeof NameChange>;

/** What a key says about its requests, for reports. The server checks names and values, so that the error names the wrong one. */
export const Labels = Type.Record(Type.String(), Type.String(), {
  maxProperties: 8,
  description:
    'Up to 8 labels, such as `{"app": "search"}`: names of up to 32 characters from a–z, 0–9, `_`, `.` and `-`; values of up to 64 printable characters. Relay copies them to each request’s ledger row.',
});
export type Labels = Static<typeof Labels>;

export const Role = oneOf(['owner', 'admin', 'developer', 'viewer', 'billing']);

export const UserStatus = oneOf(['active', 'invited', 'suspended']);

export const RouteKind = oneOf(['chat', 'responses', 'embeddings', 'messages', 'multi']);
export type RouteKind = Static<typeof RouteKind>;

export const WireProtocol = oneOf(wireProtocols, {
  default: 'openai',
  description:
    'The provider’s protocol. `openai`: chat completions, responses and embeddings, for OpenAI and compatible providers. `anthropic`: Messages.',
});
export type WireProtocol = Static<typeof WireProtocol>;

export const Operation = oneOf(operations);
export type Operation = Static<typeof Operation>;

export const RequestState = oneOf(requestStates);
