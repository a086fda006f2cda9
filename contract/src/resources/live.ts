import Type, { type Static } from 'typebox';
import { closed, Id, integer, nullable, oneOf, Timestamp } from '../schema.ts';
import { Health } from './values.ts';

const Waiting = integer({
  description: 'Requests that have a slot for later or a place in line, and were not sent yet.',
});
const InFlight = integer({
  description:
    'Requests that were sent to an endpoint and are not over: their answer is awaited or under way.',
});

/** Where the requests of a lane wait or are. */
const LiveTarget = closed('LiveTarget', {
  endpoint_id: Id,
  waiting: integer({ description: 'Those that will go here as things stand.' }),
  in_flight: InFlight,
});

/** A lane with requests in it. */
export const LiveLane = closed('LiveLane', {
  lane_id: nullable(Id, { description: 'Null for requests that name a model and no lane.' }),
  waiting: Waiting,
  longest_wait_ms: integer({ description: 'How long the one that waits longest has waited by now.' }),
  in_flight: InFlight,
  endpoints: Type.Array(LiveTarget),
});
export type LiveLane = Static<typeof LiveLane>;

/** An endpoint with requests, or one that is left alone for a while. */
export const LiveEndpoint = closed('LiveEndpoint', {
  endpoint_id: Id,
  waiting: integer({ description: 'Those that will come here as things stand.' }),
  in_flight: InFlight,
  max_concurrency: nullable(integer()),
  health: Health,
  cooldown_until: nullable(Timestamp),
});
export type LiveEndpoint = Static<typeof LiveEndpoint>;

/** What is under way in the whole deployment at one moment. Lanes and endpoints without any of it are left out. */
export const Live = closed('Live', {
  at: Timestamp,
  counted: oneOf(['organization', 'own'], {
    description:
      '`own`: the requests of the caller alone, for whoever lacks `relay:usage:read:organization`.',
  }),
  lanes: Type.Array(LiveLane),
  endpoints: Type.Array(LiveEndpoint),
});
export type Live = Static<typeof Live>;
