import type { EditedLane } from '@relay/contract';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { AnyCall } from '../../http/call.ts';
import { readLane, type StoredLane } from '../../store/configuration/read-lane.ts';
import { rolledBack } from '../dry-run/rolled-back.ts';
import { createTryEdit } from '../dry-run/try-edit.ts';
import type { ManagementDeps } from '../resources/deps.ts';

/** What a save would make of the edit: it is saved, read and rolled back. Throws what a save would throw. */
export function createReadEditedLane(
  deps: ManagementDeps,
): (call: AnyCall, edited: EditedLane) => Promise<StoredLane> {
  const tryEdit = createTryEdit(deps);
  return (call, edited) => {
    const { organizationId } = call.caller;
    return rolledBack(deps, organizationId, 'shared', async (tx) => {
      await tryEdit(tx, call, { operation: 'updateLane', id: edited.id, body: edited });
      return readLane(tx, organizationId, edited.id);
    });
  };
}

/** The snapshot with this lane in place of the saved one. */
export function withLane(
  snapshot: OrganizationSnapshot,
  { lane, memberships }: StoredLane,
): OrganizationSnapshot {
  return {
    ...snapshot,
    lanes: new Map(snapshot.lanes).set(lane.id, lane),
    memberships: [...snapshot.memberships.filter(({ laneId }) => laneId !== lane.id), ...memberships],
  };
}
