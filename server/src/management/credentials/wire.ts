import type { Credential } from '@relay/contract';
import { entityTag } from '../resources/entity-tag.ts';
import { ownerOf } from '../resources/ownership.ts';
import type { Row } from '../resources/rows.ts';

/** Never includes the secret, sealed or not: it is write-only. */
export function toCredential(row: Row<'credentials'>): Credential {
  return {
    id: row.id,
    provider_id: row.provider_id,
    name: row.name,
    enabled: row.enabled,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    ...ownerOf(row),
    etag: entityTag(row),
  };
}
