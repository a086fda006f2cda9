import type { Membership } from '@relay/contract';
import { ownerOf } from '../resources/ownership.ts';
import type { Row } from '../resources/rows.ts';

export function toMembership(row: Row<'lane_memberships'>): Membership {
  return {
    id: row.id,
    lane_id: row.lane_id,
    endpoint_id: row.endpoint_id,
    manual_rank: row.manual_rank,
    enabled: row.enabled,
    ...ownerOf(row),
  };
}
