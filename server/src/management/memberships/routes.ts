import type { Handlers } from '../../http/call.ts';
import type { tables } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { heldReference } from '../resources/reference.ts';
import { conflict } from '../resources/refusals.ts';
import type { ResourceWrites } from '../resources/write-resource.ts';
import { toMembership } from './wire.ts';

export function membershipHandlers(
  _deps: ManagementDeps,
  writes: ResourceWrites<typeof tables.lane_memberships>,
): Handlers {
  return {
    async listMemberships(call) {
      return (await writes.list(call, 'listMemberships')).map(toMembership);
    },
    getMembership: async (call) => toMembership(await writes.read(call, call.params.membership_id)),
    async createMembership(call) {
      const { body } = call;
      const row = await writes.create(call, async ({ tx, organizationId }, id) => {
        const lane = await heldReference(tx, 'lanes', organizationId, {
          param: 'lane_id',
          kind: 'lane',
          id: body.lane_id,
        });
        const endpoint = await heldReference(tx, 'endpoints', organizationId, {
          param: 'endpoint_id',
          kind: 'endpoint',
          id: body.endpoint_id,
        });
        const inserted = await writes.rows.insert(tx, organizationId, {
          id,
          lane_id: lane.id,
          endpoint_id: endpoint.id,
          manual_rank: body.manual_rank,
          enabled: body.enabled,
        });
        if (inserted !== undefined) return inserted;
        throw conflict(
          'endpoint_id',
          `The endpoint "${endpoint.name}" is already in the lane "${lane.name}". Change that membership instead.`,
        );
      });
      return toMembership(row);
    },
    async updateMembership(call) {
      const { body } = call;
      const row = await writes.update(call, call.params.membership_id, () => ({
        manual_rank: body.manual_rank,
        enabled: body.enabled,
      }));
      return toMembership(row);
    },
    deleteMembership: (call) => writes.remove(call, call.params.membership_id),
  };
}
