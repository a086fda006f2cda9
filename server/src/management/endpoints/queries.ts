import type { Kysely } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';

/** Lanes with the endpoint as a member, enabled or not. */
export async function laneNamesWith(
  db: Kysely<Database>,
  organizationId: string,
  endpointId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('lane_memberships')
    .innerJoin('lanes', (join) =>
      join
        .onRef('lanes.organization_id', '=', 'lane_memberships.organization_id')
        .onRef('lanes.id', '=', 'lane_memberships.lane_id'),
    )
    .select('lanes.name')
    .where('lane_memberships.organization_id', '=', organizationId)
    .where('lane_memberships.endpoint_id', '=', endpointId)
    .orderBy('lanes.id')
    .execute();
  return rows.map(({ name }) => name);
}
