import type { Lane } from '@relay/contract';
import { ownerOf } from '../resources/ownership.ts';
import type { Row } from '../resources/rows.ts';

export function toLane(row: Row<'lanes'>): Lane {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    // Stored as text, which may be empty; the API returns null instead.
    description: row.description === '' ? null : row.description,
    default_max_wait_ms: row.default_max_wait_ms,
    allow_fallback: row.allow_fallback,
    selection: row.selection,
    hidden: row.hidden,
    enabled: row.enabled,
    ...ownerOf(row),
  };
}
