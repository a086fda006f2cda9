import type { Invitation } from '@relay/contract';
import { entityTag } from '../resources/entity-tag.ts';
import type { InvitationRow } from './queries.ts';

/** Never includes the link: the row only has the digest of its token. */
export function toInvitation(row: InvitationRow, nowMs: number): Invitation {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    status: statusOf(row, nowMs),
    invited_by: row.invited_by_user_id,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    etag: entityTag(row),
  };
}

function statusOf(row: InvitationRow, nowMs: number): Invitation['status'] {
  if (row.accepted_at !== null) return 'accepted';
  return row.expires_at.getTime() <= nowMs ? 'expired' : 'pending';
}
