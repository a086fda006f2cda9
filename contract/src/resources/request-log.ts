import Type, { type Static } from 'typebox';
import {
  closed,
  ExactUsd,
  flag,
  Id,
  integer,
  nullable,
  oneOf,
  optional,
  page,
  pageFields,
  query,
  Timestamp,
} from '../schema.ts';
import { guardrailVerdicts } from '../words/choices.ts';
import { GuardrailVerdict } from './guardrail.ts';
import { AppliesTo, NamedLimit, PolicyKind } from './limit-usage.ts';
import { Labels, LimitMetric, LimitPeriod, Operation, RequestState } from './values.ts';

const MaybeId = nullable(Id);
const MaybeCount = nullable(integer(), { description: 'Null if unknown. Null is not zero.' });
const MaybeCost = nullable(integer(), { description: 'Micro-USD, rounded half up.' });
const usageSources = ['reported', 'streamed', 'estimated', 'none'] as const;

/** Metering metadata of one request. Prompts, bodies and credentials are never part of it. */
const entryFields = {
  request_id: Id,
  client_request_id: nullable(Type.String()),
  state: RequestState,
  operation: Operation,
  model: nullable(Type.String(), {
    description: 'The `model` that the client requested; null if the body names none.',
  }),
  streaming: flag(),
  http_status: integer(),
  error_code: nullable(Type.String()),
  user_uuid: MaybeId,
  api_key_id: MaybeId,
  lane_id: MaybeId,
  endpoint_id: MaybeId,
  provider_id: MaybeId,
  upstream_model: nullable(Type.String()),
  arrived_at: Timestamp,
  dispatched_at: nullable(Timestamp),
  first_content_at: nullable(Timestamp),
  finished_at: Timestamp,
  wait_ms: integer(),
  duration_ms: integer(),
  fallback_count: integer(),
  estimated_input_tokens: MaybeCount,
  estimated_output_tokens: MaybeCount,
  estimated_cost_micros: MaybeCount,
  input_tokens: MaybeCount,
  output_tokens: MaybeCount,
  cached_input_tokens: MaybeCount,
  total_tokens: MaybeCount,
  cost_micros: MaybeCost,
  cost_usd: nullable(ExactUsd),
  usage_source: oneOf(usageSources, {
    description:
      'Where the token counts come from. Tokens and cost are the sums of all attempts; the source is the least certain one of an attempt. `reported`: the provider reported them. `streamed`: the provider reported no complete usage; Relay counted the text that passed. `estimated`: Relay counted the estimate or, under a hard limit, what it had reserved. `none`: nothing was used: no attempt was sent, or the provider rejected each one without reporting usage.',
  }),
  team_id: MaybeId,
  parent_team_id: nullable(Id, { description: 'The parent of the team at the time of the request.' }),
  labels: Labels,
  wait_budget_ms: nullable(integer(), {
    description:
      'The wait budget at the time of the request; `wait_ms` above it means that the request exceeded it. Null if the request ended before routing or was recorded by an earlier version.',
  }),
};

export const RequestLogEntry = closed('RequestLogEntry', entryFields);
export type RequestLogEntry = Static<typeof RequestLogEntry>;

export const RequestLogPage = page('RequestLogPage', RequestLogEntry);

/** The policy that limits a candidate or a request. */
export const LimitingPolicy = closed('LimitingPolicy', {
  policy_id: Id,
  scope: Type.String(),
  metric: LimitMetric,
  period: LimitPeriod,
  resets_at: nullable(Timestamp),
});
export type LimitingPolicy = Static<typeof LimitingPolicy>;

const Verdict = oneOf([
  'selected',
  'available',
  'would_wait',
  'limited',
  'unhealthy',
  'incompatible',
  'unpriced',
  'unbounded',
  'disabled',
]);

const HardReservation = closed('HardReservation', {
  input_tokens: integer(),
  output_tokens: integer(),
  cost_micros: MaybeCount,
  output_cap: nullable(integer(), {
    description:
      'The output cap that Relay would add to the request; null if the client’s own cap applies or the model produces no output.',
  }),
});

export const CandidateVerdict = closed('CandidateVerdict', {
  endpoint_id: Id,
  endpoint_name: Type.String(),
  provider_id: Id,
  upstream_model: Type.String(),
  rank: integer(),
  verdict: Verdict,
  reason: Type.String(),
  wait_ms: nullable(integer()),
  limited_by: nullable(LimitingPolicy),
  estimated_cost_micros: MaybeCount,
  reserved: nullable(HardReservation, {
    description:
      'The most that the request can use here, which hard limits reserve; null if no hard limit applies.',
  }),
  translated_to: nullable(Operation, {
    description:
      'The operation that the request would be translated to; null if Relay would not translate it.',
  }),
  left_out: Type.Array(Type.String(), {
    description: 'Request fields that Relay would not send to the provider.',
  }),
  guardrail_ids: Type.Array(Id, {
    description: 'Guardrails that would run if Relay chose this candidate, in order.',
  }),
});
export type CandidateVerdict = Static<typeof CandidateVerdict>;

export const RequestAttempt = closed('RequestAttempt', {
  attempt: integer({ minimum: 1 }),
  endpoint_id: Id,
  provider_id: Id,
  upstream_model: Type.String(),
  outcome: oneOf(['succeeded', 'failed', 'cancelled']),
  upstream_status: nullable(integer()),
  error_code: nullable(Type.String()),
  sent: flag({
    description:
      'Whether any byte of the attempt left for the provider. An attempt that was not sent costs nothing and counts toward no limit.',
  }),
  usage_source: oneOf(usageSources, { description: 'As in the request, for this attempt.' }),
  input_tokens: nullable(integer(), { description: 'Null if the attempt used nothing.' }),
  output_tokens: nullable(integer()),
  cached_input_tokens: nullable(integer(), { description: 'Part of `input_tokens`.' }),
  cost_micros: nullable(integer(), {
    description:
      'Micro-USD, rounded half up. Null if the attempt used nothing, and if its endpoint had no price.',
  }),
  cost_usd: nullable(ExactUsd, { description: 'The attempts add up to the cost of the request.' }),
  started_at: nullable(Timestamp),
  wait_ms: nullable(integer(), { description: 'Wait for capacity before this attempt.' }),
  duration_ms: integer(),
  upstream_request_id: nullable(Type.String(), {
    description: 'The provider’s own request ID, for its support team. Null if it returned none.',
  }),
  translated_to: nullable(Operation, {
    description: 'The operation that the request was translated to; null if Relay did not translate it.',
  }),
  left_out: Type.Array(Type.String(), {
    description:
      'Request fields that Relay did not send to the provider, because its protocol can’t express them and the response does not depend on them, because its preset drops them, or because they are thinking blocks that Relay translated in an earlier turn. Names that begin with `response.` are what the response had beside its content and the client did not get.',
  }),
  upstream_message: nullable(Type.String(), {
    description:
      'The provider’s message when it rejected the credential or returned a redirect (401, 402, 403, 407, 3xx), with keys and request content removed. Null otherwise.',
  }),
});
export type RequestAttempt = Static<typeof RequestAttempt>;

/** One line of a finished request's decision trace. */
export const RecordedCandidate = closed('RecordedCandidate', {
  endpoint_id: Id,
  endpoint_name: nullable(Type.String(), { description: 'Null if the endpoint was deleted.' }),
  rank: integer(),
  verdict: Verdict,
  reason: Type.String(),
  wait_ms: nullable(integer()),
});
export type RecordedCandidate = Static<typeof RecordedCandidate>;

/** A limit by name. */
export const namedLimitFields = {
  policy_id: Id,
  policy_kind: PolicyKind,
  subject_id: nullable(Id, {
    description:
      'The member, key or team whose limit it is. Null with `policy_kind` `resource`, for a deleted limit of a team, and if the caller can’t read it.',
  }),
  subject_name: nullable(Type.String(), {
    description: 'Null where `subject_id` is null, and if the member, key or team was deleted.',
  }),
  scope_type: AppliesTo,
  scope_id: MaybeId,
  scope_name: nullable(Type.String(), { description: 'Null for `global`, and if the resource was deleted.' }),
  metric: LimitMetric,
  period: LimitPeriod,
  limit_value: nullable(integer(), {
    description:
      'The current maximum for one window; micro-USD for `spend`. It may have changed since the request. Null if the limit was deleted.',
  }),
};

/** The limit that made a request wait, or rejected it. */
export const BoundPolicy = closed('BoundPolicy', {
  ...namedLimitFields,
  resets_at: nullable(Timestamp, {
    description: 'Null with period `none`, and if no reset helps the request.',
  }),
});
export type BoundPolicy = Static<typeof BoundPolicy>;

/** A part of the cost of a request. */
const CostLine = closed('CostLine', {
  attempt: integer({ minimum: 1, description: 'The attempt that used it.' }),
  kind: oneOf([
    'input',
    'cached_input',
    'cache_write_5m',
    'cache_write_1h',
    'audio_input',
    'image_input',
    'output',
    'reasoning',
    'audio_output',
    'image_output',
    'request',
  ]),
  tokens: nullable(integer(), { description: 'Null with kind `request`, the flat price of a request.' }),
  price_micros: integer({
    description: 'Micro-USD per 1,000,000 tokens; with kind `request`, per request.',
  }),
  cost_usd: ExactUsd,
});
export type CostLine = Static<typeof CostLine>;

export const RequestDetail = closed('RequestDetail', {
  ...entryFields,
  cache_write_5m_tokens: nullable(integer(), {
    description:
      'Input that the provider wrote to a 5-minute cache; part of `input_tokens`. Null if the provider reported no usage.',
  }),
  cache_write_1h_tokens: nullable(integer(), {
    description: 'The same for a 1-hour cache.',
  }),
  credential_id: MaybeId,
  bound_policy: nullable(BoundPolicy),
  attempts: Type.Array(RequestAttempt),
  candidates: Type.Array(RecordedCandidate, { description: 'The decision trace.' }),
  guardrails: Type.Array(GuardrailVerdict),
  trace_id: nullable(Type.String(), {
    description: 'The ID of the request’s OpenTelemetry trace. Null if the request was not traced.',
  }),
  reported_usage: nullable(
    closed('ReportedUsage', {
      input_tokens: integer(),
      output_tokens: integer(),
      cached_input_tokens: integer(),
    }),
    {
      description:
        'The usage that the provider reported, if it is implausible or exceeds what a hard limit reserved; null otherwise. Implausible means more than the endpoint’s context window plus the maximum output, or more than 10,000,000 tokens if either is unknown; Relay counts at most that much. Relay counts usage above a reservation in full.',
    },
  ),
  usage_details: nullable(
    closed('UsageDetails', {
      reasoning_tokens: integer(),
      audio_input_tokens: integer(),
      image_input_tokens: integer(),
      audio_output_tokens: integer(),
      image_output_tokens: integer(),
      service_tier: nullable(Type.String(), { description: 'Null for the standard tier.' }),
    }),
    {
      description:
        'Kinds of input and output tokens that can have their own prices, and the service tier. Null if the provider reported none.',
    },
  ),
  cost_lines: nullable(Type.Array(CostLine), {
    description:
      'What the cost is made of: the lines of each attempt, by its endpoint’s price at the time of the request. Tokens of a kind without its own price are in the line of the input or the output. Relay records the cost, not the prices: the lines always add up to `cost_usd`, and are null if a price was changed since then. Also null if the cost is unknown or an attempt’s is what was reserved, and if the caller lacks `relay:providers:read`.',
  }),
  timings: closed('RequestTimings', {
    receive_ms: nullable(integer()),
    route_ms: nullable(integer()),
    guard_ms: nullable(integer()),
    admit_ms: nullable(integer()),
    wait_ms: nullable(integer()),
    upstream_first_byte_ms: nullable(integer()),
    first_content_ms: nullable(integer()),
    total_ms: nullable(integer()),
  }),
});
export type RequestDetail = Static<typeof RequestDetail>;

export const RequestLimits = closed('RequestLimits', {
  at: Timestamp,
  counted: oneOf(['organization', 'own'], {
    description:
      '`own`: only the caller’s limits, because the caller lacks `relay:limits:read:organization`.',
  }),
  limits: Type.Array(NamedLimit, {
    description:
      'Active limits that count requests like this one: of its team, member and key, and shared limits on what it asked for and on the endpoints it was sent to. If it was sent to none, on the endpoints that Relay considered. Includes the limit that it waited for. Their state is of now, not of the time of the request.',
  }),
});
export type RequestLimits = Static<typeof RequestLimits>;

const filters = {
  from: optional(Timestamp),
  to: optional(Timestamp),
  state: optional(RequestState),
  operation: optional(Operation),
  model: optional(Type.String({ maxLength: 200 })),
  lane_id: optional(Id),
  endpoint_id: optional(Id),
  provider_id: optional(Id),
  api_key_id: optional(Id),
  user_uuid: optional(Id),
  error_code: optional(Type.String({ maxLength: 100 })),
  waited: optional(
    flag({
      description:
        '`true`: only requests that waited for capacity, in any state. `false`: only requests that did not wait.',
    }),
  ),
  fell_back: optional(
    flag({
      description:
        '`true`: only requests with at least one fallback, in any state. `false`: only requests without a fallback.',
    }),
  ),
  guardrail_id: optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Only requests that this guardrail checked.' }),
  ),
  guardrail_verdict: optional(
    oneOf(guardrailVerdicts, {
      description:
        'Only requests with this verdict of `guardrail_id`, or of any guardrail. `blocked`: only those that ended with `content_policy_violation`.',
    }),
  ),
};

export const RequestLogQuery = query({ ...filters, ...pageFields });
export type RequestLogQuery = Static<typeof RequestLogQuery>;

/** The live tail and the CSV export take the filters, but are not paged. */
export const RequestTailQuery = query({
  ...filters,
  after: optional(
    Type.String({
      maxLength: 100,
      description:
        'The ID of the last request that you received. The stream starts with the requests recorded after it. The `Last-Event-ID` header does the same and takes precedence.',
    }),
  ),
});

export const RequestExportQuery = query({
  ...filters,
  before: optional(
    Type.String({
      maxLength: 100,
      description:
        'Continues after this request ID. A file has at most 1,000,000 rows, newest first. If there are more, the first field of the last record says so and gives the ID to continue with.',
    }),
  ),
});
