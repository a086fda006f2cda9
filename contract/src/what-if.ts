import Type, { type Static } from 'typebox';
import { ConfigFile } from './config-file.ts';
import { costSums } from './cost-sums.ts';
import { PolicyKind } from './resources/limit-usage.ts';
import { LimitMetric, LimitPeriod, NameChange } from './resources/values.ts';
import { closed, flag, Id, integer, nullable, OpenJson, oneOf, optional, Timestamp } from './schema.ts';

/** Writes of one resource that can be tried before they are made. */
export const editOperations = [
  'updateLane',
  'createLimitPolicy',
  'updateLimitPolicy',
  'upsertUserLimitPolicy',
  'upsertTeamLimitPolicy',
  'upsertApiKeyLimitPolicy',
  'createPricingPolicy',
  'updatePricingPolicy',
] as const;

const ResourceEdit = closed('ResourceEdit', {
  operation: oneOf(editOperations, { description: 'The operation that would save the edit.' }),
  id: optional(Id),
  body: Type.Record(Type.String(), OpenJson, { description: 'The request body of that operation.' }),
});
export type ResourceEdit = Static<typeof ResourceEdit>;

export const WhatIfRequest = closed('WhatIfRequest', {
  config: optional(ConfigFile),
  edit: optional(ResourceEdit),
  prune: optional(
    flag({
      default: false,
      description: 'Replay without resources that are managed by file and not in `config`.',
    }),
  ),
  days: optional(
    integer({
      minimum: 1,
      maximum: 7,
      default: 7,
      description: 'How many days of requests to replay, up to now.',
    }),
  ),
});
export type WhatIfRequest = Static<typeof WhatIfRequest>;

/** Of each list in the result. */
export const WHAT_IF_LISTED_MAX = 50;

const spend = costSums({ cost: 'Spend.' });

/** What requests met, in the ledger or in a replay. */
const WhatIfFigures = closed('WhatIfFigures', {
  served: integer({ description: 'Requests that were sent to a provider.' }),
  rejected: integer({
    description: 'Requests that Relay rejected because of capacity or because no route matched.',
  }),
  rejections: Type.Array(closed('WhatIfRejections', { code: Type.String(), requests: integer() }), {
    description: 'The same by error code, most frequent first.',
  }),
  waited: integer({ description: 'Requests that waited before they were sent.' }),
  wait_ms: integer({ description: 'The sum of these waits.' }),
  wait_ms_p50: integer({ description: 'The median wait of all requests that were sent.' }),
  wait_ms_p95: integer(),
  wait_ms_rejected: integer({ description: 'The sum of the waits of requests that Relay then rejected.' }),
  fallbacks: integer({ description: 'How often requests fell back to another endpoint after a failure.' }),
  ...spend,
});
export type WhatIfFigures = Static<typeof WhatIfFigures>;

const WhatIfPart = closed('WhatIfPart', {
  served: integer(),
  rejected: integer(),
  wait_ms: integer(),
  ...spend,
});
export type WhatIfPart = Static<typeof WhatIfPart>;

const WhatIfCaller = closed('WhatIfCaller', {
  key_id: nullable(Id, { description: 'Null for requests without an API key.' }),
  user_id: nullable(Id),
  before: WhatIfPart,
  after: WhatIfPart,
});

const WhatIfEndpointPart = closed('WhatIfEndpointPart', { served: integer(), ...spend });

const WhatIfEndpoint = closed('WhatIfEndpoint', {
  endpoint_id: Id,
  endpoint_name: Type.String(),
  before: WhatIfEndpointPart,
  after: WhatIfEndpointPart,
});

const WhatIfRejecting = closed('WhatIfRejecting', {
  policy_id: Id,
  policy_kind: PolicyKind,
  subject_id: nullable(Id, {
    description: 'The member, key or team whose limit it is. Null with `policy_kind` `resource`.',
  }),
  scope_type: Type.String(),
  scope_id: nullable(Id),
  scope_name: nullable(Type.String(), { description: 'Null for `global`, and for a credential.' }),
  metric: LimitMetric,
  period: LimitPeriod,
  limit: integer(),
  requests: integer({ description: 'Requests that this limit rejects with the edit.' }),
});

const partFields = {
  requests: integer({ description: 'How many of its requests were replayed.' }),
  summary: Type.String({ description: 'The difference for these requests in one sentence.' }),
  history: WhatIfFigures,
  before: WhatIfFigures,
  after: WhatIfFigures,
  rejecting: Type.Array(WhatIfRejecting, {
    description: `The limits that reject these requests with the edit, most rejections first; at most ${WHAT_IF_LISTED_MAX}.`,
  }),
};

const WhatIfLane = closed('WhatIfLane', { lane_id: Id, lane_name: Type.String(), ...partFields });

const WhatIfLimit = closed('WhatIfLimit', {
  policy_id: Id,
  policy_kind: PolicyKind,
  scope_type: Type.String(),
  scope_id: nullable(Id),
  metric: LimitMetric,
  period: LimitPeriod,
  limit_before: nullable(integer(), { description: 'Null if the limit does not exist today.' }),
  limit_after: nullable(integer(), { description: 'Null if the edit removes or disables the limit.' }),
  rejected_before: integer({ description: 'Requests that this limit rejected.' }),
  rejected_after: integer(),
  waited_before: integer({ description: 'Requests that waited because of this limit.' }),
  waited_after: integer(),
});

/** Two replays of the same requests, so that they differ by the edit alone. */
export const WhatIf = closed('WhatIf', {
  summary: Type.String({ description: 'The difference in one sentence.' }),
  from: Timestamp,
  to: Timestamp,
  requests: integer({ description: 'How many requests were replayed.' }),
  left_out: integer({
    description:
      'Requests in this period that never reached admission, such as those that a guardrail blocked.',
  }),
  cut: nullable(oneOf(['requests', 'time']), {
    description:
      '`requests`: there are more requests than can be replayed, and `from` is when the oldest replayed request arrived. `time`: the replay reached its time limit, and `to` is when the last replayed request arrived.',
  }),
  took_ms: integer(),
  name_changes: Type.Array(NameChange, {
    description: `Callable names that stand for something else with the edit; at most ${WHAT_IF_LISTED_MAX}.`,
  }),
  history: WhatIfFigures,
  before: WhatIfFigures,
  after: WhatIfFigures,
  rejecting: Type.Array(WhatIfRejecting, {
    description: `The limits that reject requests with the edit, most rejections first; at most ${WHAT_IF_LISTED_MAX}.`,
  }),
  limit: nullable(closed('WhatIfOfLimit', partFields), {
    description:
      'If the edit is of a limit: the requests that the limit applies to, today or with the edit. Null for an edit of something else.',
  }),
  lanes: Type.Array(WhatIfLane, {
    description: `The edited lane if the edit is \`updateLane\`, then the other lanes that the edit affects, largest change first; at most ${WHAT_IF_LISTED_MAX}. Without requests that name a model directly.`,
  }),
  keys: Type.Array(WhatIfCaller, {
    description: `The callers that the edit affects, largest change first; at most ${WHAT_IF_LISTED_MAX}.`,
  }),
  limits: Type.Array(WhatIfLimit, {
    description: `The limits that reject or delay more or fewer requests than today; at most ${WHAT_IF_LISTED_MAX}.`,
  }),
  endpoints: Type.Array(WhatIfEndpoint, {
    description: `The endpoints that get more or fewer requests than today; at most ${WHAT_IF_LISTED_MAX}.`,
  }),
});
export type WhatIf = Static<typeof WhatIf>;
export type WhatIfRejecting = Static<typeof WhatIfRejecting>;
