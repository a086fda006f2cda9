import type { ApiKey } from '@relay/contract';
import { keyPrefixOf } from '../../domain/api-key.ts';
import { entityTag } from '../resources/entity-tag.ts';
import type { KeyRow } from './queries.ts';

/** Never includes the secret or its digest. */
export function toApiKey(row: KeyRow, nowMs: number): ApiKey {
  return {
    id: row.id,
    user_uuid: row.user_id,
    name: row.name,
    key_prefix: keyPrefixOf(row.public_id),
    product_key: row.product_key,
    scopes: row.scopes,
    status: statusOf(row, nowMs),
    created_at: row.created_at.toISOString(),
    first_used_at: row.first_used_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
    team_id: row.team_id,
    labels: row.labels,
    etag: entityTag(row),
  };
}

/** Computed from the clock, because expiry changes no row. */
function statusOf(row: KeyRow, nowMs: number): ApiKey['status'] {
  if (row.revoked_at !== null) return 'revoked';
  return row.expires_at !== null && row.expires_at.getTime() <= nowMs ? 'expired' : 'active';
}
