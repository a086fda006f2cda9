import type { Team } from '@relay/contract';
import type { Row } from '../resources/rows.ts';

export function toTeam(row: Row<'teams'>): Team {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    kind: row.kind,
    parent_id: row.parent_id,
    created_at: row.created_at.toISOString(),
  };
}
