import type { Membership } from '@relay/contract';

/** Members in the order in which they are asked. Equal ranks stand in the order of their ids, as on the server. */
export function inRankOrder(memberships: readonly Membership[]): readonly Membership[] {
  return memberships.toSorted(
    (a, b) => a.manual_rank - b.manual_rank || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  );
}
