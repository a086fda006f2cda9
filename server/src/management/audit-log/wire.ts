import type { AuditEntry } from '@relay/contract';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import type { EntryRow } from './queries.ts';

export function toAuditEntry(row: EntryRow): AuditEntry {
  const byKey = row.actor_type === 'api_key';
  return {
    id: row.id,
    // Entries are ordered and filtered by the time in their id, so the response shows that time.
    at: new Date(uuidTimeMs(row.id)).toISOString(),
    actor: {
      type: row.actor_type,
      id: byKey ? row.actor_key_id : row.actor_user_id,
      name: byKey ? row.key_name : row.user_name,
    },
    action: row.action,
    target_type: row.target_type,
    target_id: row.target_id,
    before: row.before,
    after: row.after,
    request_id: row.request_id,
  };
}
