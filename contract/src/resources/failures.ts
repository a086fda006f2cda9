import Type, { type Static } from 'typebox';
import { completeUntil } from '../complete-until.ts';
import { closed, Id, integer, nullable, oneOf, Timestamp } from '../schema.ts';
import { failureActions, failureResources } from '../words/choices.ts';
import { BoundPolicy } from './request-log.ts';
import { Bucket } from './stats.ts';

/** What mends a cause, for people who may change it. */
export const FailureAction = closed('FailureAction', {
  kind: oneOf([...failureActions]),
  resource_type: nullable(oneOf([...failureResources])),
  resource_id: nullable(Type.String(), {
    description: 'The ID of the resource; for `model`, the name that the client requested.',
  }),
  resource_name: nullable(Type.String(), { description: 'Null if the resource has no name.' }),
});
export type FailureAction = Static<typeof FailureAction>;

/** Failed requests that have one cause in common. */
export const FailureCause = closed('FailureCause', {
  error_code: nullable(Type.String(), {
    description:
      'A Relay error code, `upstream_status_` followed by the provider’s status, `upstream_error_frame` for an error in a stream, or `gateway_lost` for a process that died.',
  }),
  requests: integer(),
  first_at: Timestamp,
  last_at: Timestamp,
  example_request_id: nullable(Id, {
    description: 'The latest of the requests. Null if the log no longer has it.',
  }),
  http_status: nullable(integer(), { description: 'The status that the client of the example request got.' }),
  provider_id: nullable(Id),
  endpoint_id: nullable(Id),
  lane_id: nullable(Id),
  guardrail_id: nullable(Id),
  limited_by: nullable(BoundPolicy),
  summary: Type.String({ description: 'What happened, in one sentence.' }),
  action: nullable(FailureAction),
  no_action: nullable(Type.String(), {
    description: 'Why there is no action; null if there is one.',
  }),
});
export type FailureCause = Static<typeof FailureCause>;

/** The failed requests of a time range, by cause. */
export const Failures = closed('Failures', {
  bucket: Bucket,
  from: Timestamp,
  to: Timestamp,
  ...completeUntil,
  requests: integer({ description: 'All failed requests, including those that Relay rejected.' }),
  causes: Type.Array(FailureCause, { description: 'The most frequent first; at most 100.' }),
  other_requests: integer({
    description:
      'Failed requests that are not counted in `causes`: those with rarer causes, and those recorded by an earlier version.',
  }),
});
export type Failures = Static<typeof Failures>;
