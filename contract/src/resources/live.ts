import Type, { type Static } from 'typebox';
import { closed, Id, integer, nullable, oneOf, Timestamp } from '../schema.ts';
import { Health, HealthDetail } from './values.ts';

const Waiting = integer({
  description: 'Requests in the queue.',
});
const InFlight = integer({
  description: 'Requests sent to an endpoint whose response has not finished.',
});

/** Requests of a lane by state. */
const LiveTarget = closed('LiveTarget', {
  endpoint_id: Id,
  waiting: integer({ description: 'Waiting requests that are currently expected to go to this endpoint.' }),
  in_flight: InFlight,
});

/** A lane with requests in it. */
export const LiveLane = closed('LiveLane', {
  lane_id: nullable(Id, { description: 'Null for requests that name a model instead of a lane.' }),
  waiting: Waiting,
  longest_wait_ms: integer({ description: 'How long the longest-waiting request has waited so far.' }),
  in_flight: InFlight,
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
