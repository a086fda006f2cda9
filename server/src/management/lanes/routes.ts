import type { LaneCreate, LaneUpdate } from '@relay/contract';
import type { Handlers } from '../../http/call.ts';
import type { ManagementDeps } from '../deps.ts';
import { listRows } from '../paging.ts';
import { demandRoom } from '../plan-counts.ts';
import { insertSlugged } from '../slugged-insert.ts';
import { demandStorable } from '../storable-body.ts';
import { resourceWrites } from '../write-resource.ts';
import { laneRows } from './queries.ts';
import { toLane } from './wire.ts';

export function laneHandlers(deps: ManagementDeps): Handlers {
  const writes = resourceWrites(deps, laneRows, 'lane');

  return {
    async listLanes(call) {
      return (await listRows(deps, call, 'listLanes', laneRows)).map(toLane);
    },
    async createLane(call) {
      const { body, caller } = call;
      demandStorable(body);
      const row = await writes.create(call, async (tx, id) => {
        await demandRoom(tx, caller.organizationId, 'lanes');
        return insertSlugged(tx, laneRows, caller.organizationId, {
          name: body.name,
          fallback: 'lane',
          row: { ...settingsOf(body), id },
        });
      });
      return toLane(row);
    },
    async updateLane(call) {
      const { body } = call;
      demandStorable(body);
      const row = await writes.update(call, call.params.group_id, () => ({
        ...settingsOf(body),
        name: body.name,
      }));
      return toLane(row);
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
    selection: body.selection,
    hidden: body.hidden,
    enabled: body.enabled,
  };
}
