import type { Handlers } from '../../http/call.ts';
import type { ManagementDeps } from '../deps.ts';
import { endpointRows } from '../endpoints/queries.ts';
import { laneRows } from '../lanes/queries.ts';
import { listRows } from '../paging.ts';
import { heldReference } from '../reference.ts';
import { conflict } from '../refusals.ts';
import { resourceWrites } from '../write-resource.ts';
import { membershipRows } from './queries.ts';
import { toMembership } from './wire.ts';

export function membershipHandlers(deps: ManagementDeps): Handlers {
  const writes = resourceWrites(deps, membershipRows, 'lane_membership');

  return {
    async listMemberships(call) {
      return (await listRows(deps, call, 'listMemberships', membershipRows)).map(toMembership);
    },
    async createMembership(call) {
      const { body, caller } = call;
      const row = await writes.create(call, async (tx, id) => {
        const lane = await heldReference(tx, laneRows, caller.organizationId, {
          param: 'lane_id',
          kind: 'lane',
          id: body.lane_id,
        });
        const endpoint = await heldReference(tx, endpointRows, caller.organizationId, {
          param: 'endpoint_id',
          kind: 'endpoint',
          id: body.endpoint_id,
        });
        const inserted = await membershipRows.insert(tx, caller.organizationId, {
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
