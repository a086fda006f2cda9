import Type, { type Static } from 'typebox';
import { closed, Id, integer, nullable, oneOf, optional, query, Timestamp } from '../schema.ts';
import { namedLimitFields } from './request-log.ts';
import { Health, HealthDetail } from './values.ts';

const Waiting = integer({
  description: 'Requests in the queue.',
});
const InFlight = integer({
  description: 'Requests that were sent to an endpoint and have no complete response yet.',
});

/** Requests of a lane by state. */
const LiveTarget = closed('LiveTarget', {
  endpoint_id: Id,
  waiting: integer({ description: 'Waiting requests that are currently expected to go to this endpoint.' }),
  in_flight: InFlight,
});

/** A limit that made requests of a lane wait. */
const LiveLimit = closed('LiveLimit', {
  ...namedLimitFields,
  waiting: integer({ description: 'Requests of this lane that this limit made wait.' }),
});

/** A lane with requests in it, or with fallbacks or rejections in the last minute. */
export const LiveLane = closed('LiveLane', {
  lane_id: nullable(Id, { description: 'Null for requests that name a model instead of a lane.' }),
  waiting: Waiting,
  waiting_by_priority: closed(
    'LiveWaiting',
    { interactive: integer(), standard: integer(), batch: integer() },
    {
      description:
        'Waiting requests by priority: the priority of each request’s lane when the request arrived.',
    },
  ),
  longest_wait_ms: integer({ description: 'How long the longest-waiting request has waited so far.' }),
  next_slot_ms: nullable(integer(), {
    description:
      'Milliseconds until the next waiting request can be sent, given the current limits, pacing and cooldowns. Requests in other lanes that wait for the same capacity may be sent first. Null if no request is waiting, or if the time is unknown, as with a concurrency limit: waiting requests are then sent when others finish.',
  }),
  limited_by: Type.Array(LiveLimit, {
    description:
      'The limits that made requests wait, most requests first; at most 3. A request counts toward the limit that had no capacity for it when it joined the queue; one that waits because of a cooldown, pacing or other requests ahead counts toward none.',
  }),
  in_flight: InFlight,
  fallbacks: integer({
    description: 'Requests that fell back to another endpoint in the last minute.',
  }),
  rejections: integer({
    description:
      'Requests that Relay rejected with 429 in the last minute, without an attempt: no capacity within the wait budget, a full queue, or a request larger than a limit.',
  }),
  endpoints: Type.Array(LiveTarget),
});
export type LiveLane = Static<typeof LiveLane>;

/** An endpoint that has requests or is cooling down. */
export const LiveEndpoint = closed('LiveEndpoint', {
  endpoint_id: Id,
  waiting: integer({ description: 'Waiting requests that are currently expected to go to this endpoint.' }),
  in_flight: InFlight,
  max_concurrency: nullable(integer()),
  health: Health,
  health_detail: HealthDetail,
  cooldown_until: nullable(Timestamp),
});
export type LiveEndpoint = Static<typeof LiveEndpoint>;

/** Waiting and in-flight requests of the whole deployment. Idle lanes and endpoints are left out. */
export const Live = closed('Live', {
  at: Timestamp,
  counted: oneOf(['organization', 'own'], {
    description:
      '`own`: only the caller’s requests, because the caller lacks `relay:usage:read:organization`.',
  }),
  lanes: Type.Array(LiveLane),
  endpoints: Type.Array(LiveEndpoint),
});
export type Live = Static<typeof Live>;

export const LiveQuery = query({
  api_key_id: optional(
    Type.String({
      maxLength: 100,
      description: 'Only requests made with this key, and only the lanes and endpoints that have some.',
    }),
  ),
});
