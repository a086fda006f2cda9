import type { Membership } from '@relay/contract';

/** Endpoints of a lane by rank; equal ranks by ID, as on the server. */
export function inRankOrder(memberships: readonly Membership[]): readonly Membership[] {
  return memberships.toSorted(
    (a, b) => a.manual_rank - b.manual_rank || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  );
}
