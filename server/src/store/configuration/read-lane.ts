import type { Transaction } from 'kysely';
import type { Lane, Membership } from '../../domain/snapshot.ts';
import type { Database } from '../postgres/schema.ts';
import { toLane, toMembership } from './load-snapshot.ts';

export interface StoredLane {
  readonly lane: Lane;
  readonly memberships: readonly Membership[];
}

/** One lane as a snapshot has it. */
export async function readLane(
  tx: Transaction<Database>,
  organizationId: string,
  laneId: string,
): Promise<StoredLane> {
  const lane = await tx
    .selectFrom('lanes')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', laneId)
    .executeTakeFirstOrThrow();
  const memberships = await tx
    .selectFrom('lane_memberships')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('lane_id', '=', laneId)
    .orderBy('manual_rank')
    .orderBy('id')
    .execute();
  return { lane: toLane(lane), memberships: memberships.map(toMembership) };
}
