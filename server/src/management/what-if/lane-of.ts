import { routingTableOf } from '../../domain/routing/routing.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import { entryIn } from '../../kit/entry-in.ts';
import type { ReplayedRequest } from './replayed-request.ts';

/** The lane that a request is counted for; null where it named a model. */
export type LaneOf = (request: ReplayedRequest) => string | null;

/**
 * The same for both replays: the lane that the request means today, else after the edit, else the one that it was recorded with. An edit
 * that disables a lane then rejects the requests of that lane.
 */
export function createLaneOf(before: OrganizationSnapshot, after: OrganizationSnapshot): LaneOf {
  const known = new Map<string, string | null>();
  const laneIn = (snapshot: OrganizationSnapshot, model: string) =>
    routingTableOf(snapshot).resolve(model)?.lane?.id ?? null;
  const laneNamed = (model: string) => laneIn(before, model) ?? laneIn(after, model);
  return ({ model, laneId }) => (model === null ? null : entryIn(known, model, laneNamed)) ?? laneId;
}
