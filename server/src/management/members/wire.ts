import type { Member } from '@relay/contract';
import { entityTag } from '../resources/entity-tag.ts';
import type { MemberRow } from './queries.ts';

export function toMember(row: MemberRow): Member {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    // A user can be suspended in this organization or everywhere; either way they have no access here.
    status: row.status === 'suspended' ? 'suspended' : row.user_status,
    joined_at: row.created_at.toISOString(),
    last_seen_at: row.last_seen_at?.toISOString() ?? null,
    team_id: row.team_id,
    etag: entityTag(row),
  };
}
