import type { LaneCreate, LaneDetail, LaneUpdate } from '@relay/contract';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { Handlers } from '../../http/call.ts';
import type { tables } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import type { Row } from '../resources/rows.ts';
import { insertSlugged } from '../resources/slugged-insert.ts';
import type { ResourceWrites } from '../resources/write-resource.ts';
import { membersOf, replaceMembers } from './members.ts';
import { toLane, toLaneDetail } from './wire.ts';

export function laneHandlers(deps: ManagementDeps, writes: ResourceWrites<typeof tables.lanes>): Handlers {
  const withMembers = async (row: Row<'lanes'>): Promise<LaneDetail> =>
    toLaneDetail(row, await membersOf(deps.ofOrganization(row.organization_id), row));

  return {
    async listLanes(call) {
      return (await writes.list(call, 'listLanes')).map(toLane);
    },
    getLane: async (call) => withMembers(await writes.read(call, call.params.group_id)),
    async createLane(call) {
      const { body } = call;
      demandStorable(body);
      const row = await writes.create(call, async (writing, id) => {
        const { tx, organizationId } = writing;
        const named = { name: body.name, fallback: 'lane' };
        const lane = await insertSlugged(tx, writes.rows, organizationId, named, (slug) => ({
          ...settingsOf(body),
          id,
          name: body.name,
          slug,
        }));
        if (body.members !== undefined) await replaceMembers(deps, writing, lane, body.members);
        return lane;
      });
      return withMembers(row);
    },
    async updateLane(call) {
      const { body } = call;
      demandStorable(body);
      const row = await writes.update(call, call.params.group_id, async (writing, before) => {
        if (body.members !== undefined) await replaceMembers(deps, writing, before, body.members);
        return { ...settingsOf(body), name: body.name };
      });
      return withMembers(row);
    },
    deleteLane: (call) => writes.remove(call, call.params.group_id),
  };
}

/** The columns that a create and an update may both set. */
function settingsOf(body: LaneCreate | LaneUpdate) {
  return {
    description: body.description === null ? '' : body.description,
    default_max_wait_ms: body.default_max_wait_ms,
    allow_fallback: body.allow_fallback,
    hold_ms: body.hold_ms,
    selection: body.selection,
    priority: body.priority,
    hidden: body.hidden,
    shadows_model: body.shadows_model,
    enabled: body.enabled,
  };
}
