import { type LaneMemberWrite, LaneMemberWrite as MemberBody, membershipResource } from '@relay/contract';
import type { Kysely, Transaction } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { demandNotOwnedByFile } from '../resources/ownership.ts';
import { heldReference } from '../resources/reference.ts';
import { invalidField } from '../resources/refusals.ts';
import { changedColumns, demandRepeated } from '../resources/repeated-fields.ts';
import { ownedRows, type Row, storedTable } from '../resources/rows.ts';
import { recorded } from '../resources/write-configuration.ts';
import type { Writing } from '../resources/write-resource.ts';
import { toLaneMember } from './wire.ts';

type LaneRow = Pick<Row<'lanes'>, 'organization_id' | 'id'>;
type MemberRow = Row<'lane_memberships'>;

const membership = { noun: membershipResource.section.noun, table: storedTable('lane_memberships') };
const memberships = ownedRows(membership.table);

/** The members of a lane in rank order. `locked`: kept from other writers until commit. */
export async function membersOf(
  db: Kysely<Database>,
  lane: LaneRow,
  how: 'read' | 'locked' = 'read',
): Promise<MemberRow[]> {
  return await db
    .selectFrom('lane_memberships')
    .selectAll()
    .where('organization_id', '=', lane.organization_id)
    .where('lane_id', '=', lane.id)
    .orderBy('manual_rank')
    .orderBy('id')
    .$if(how === 'locked', (query) => query.forUpdate())
    .execute();
}

interface Wanted {
  /** Where the body names it. */
  readonly path: string;
  readonly sent: LaneMemberWrite;
  readonly settings: Pick<MemberRow, 'manual_rank' | 'enabled'>;
}

/**
 * Replaces the members of a lane, whose row is locked. Those that stay keep their ids; those that the configuration file owns
 * must be in the list as they are.
 */
export async function replaceMembers(
  { newId }: { readonly newId: () => string },
  writing: Writing,
  lane: LaneRow,
  members: readonly LaneMemberWrite[],
): Promise<void> {
  const { tx, also } = writing;
  const left = new Map((await membersOf(tx, lane, 'locked')).map((row) => [row.endpoint_id, row]));
  for (const wanted of wantedOf(members)) {
    const { path, sent, settings } = wanted;
    const known = left.get(sent.endpoint_id.toLowerCase());
    demandRepeated(MemberBody, sent, known === undefined ? {} : toLaneMember(known), path);
    if (known === undefined) {
      also(recorded(membership, null, await insertMember(tx, lane, newId(), wanted)));
      continue;
    }
    left.delete(known.endpoint_id);
    const patch = changedColumns(known, settings);
    if (Object.keys(patch).length === 0) continue;
    demandNotOwnedByFile(membership.noun, known);
    const after = await memberships.update(tx, lane.organization_id, known.id, patch);
    also(recorded(membership, known, after ?? null));
  }
  for (const row of left.values()) {
    demandNotOwnedByFile(membership.noun, row);
    await memberships.remove(tx, lane.organization_id, row.id);
    also(recorded(membership, row, null));
  }
}

async function insertMember(
  tx: Transaction<Database>,
  lane: LaneRow,
  id: string,
  { path, sent, settings }: Wanted,
): Promise<MemberRow> {
  const named = { param: `${path}.endpoint_id`, kind: 'endpoint', id: sent.endpoint_id };
  const endpoint = await heldReference(tx, 'endpoints', lane.organization_id, named);
  const row = { id, lane_id: lane.id, endpoint_id: endpoint.id, ...settings };
  const inserted = await memberships.insert(tx, lane.organization_id, row);
  // The lane is locked, so no other write can have put the endpoint into it meanwhile.
  if (inserted === undefined)
    throw new Error(`the endpoint ${endpoint.id} is already in the lane ${lane.id}`);
  return inserted;
}

function wantedOf(members: readonly LaneMemberWrite[]): Wanted[] {
  const seen = new Map<string, string>();
  let rank = 0;
  return members.map((sent, index) => {
    const path = `members[${index}]`;
    const endpointId = sent.endpoint_id.toLowerCase();
    const other = seen.get(endpointId);
    if (other !== undefined)
      throw invalidField(
        `${path}.endpoint_id`,
        `${path} names the same endpoint as ${other}. Remove one of them.`,
      );
    seen.set(endpointId, path);
    rank = sent.manual_rank ?? rank + 1;
    return { path, sent, settings: { manual_rank: rank, enabled: sent.enabled ?? true } };
  });
}
