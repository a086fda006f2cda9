import type { LaneCreate, LaneUpdate } from '@relay/contract';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { Handlers } from '../../http/call.ts';
import type { tables } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { insertSlugged } from '../resources/slugged-insert.ts';
import type { ResourceWrites } from '../resources/write-resource.ts';
import { toLane } from './wire.ts';

export function laneHandlers(_deps: ManagementDeps, writes: ResourceWrites<typeof tables.lanes>): Handlers {
  return {
    async listLanes(call) {
      return (await writes.list(call, 'listLanes')).map(toLane);
    },
    async createLane(call) {
      const { body } = call;
      demandStorable(body);
      const row = await writes.create(call, ({ tx, organizationId }, id) =>
        insertSlugged(tx, writes.rows, organizationId, { name: body.name, fallback: 'lane' }, (slug) => ({
          ...settingsOf(body),
          id,
          name: body.name,
          slug,
        })),
      );
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
