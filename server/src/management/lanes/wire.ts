import type { Lane, LaneDetail, LaneMember } from '@relay/contract';
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
    hold_ms: row.hold_ms,
    selection: row.selection,
    priority: row.priority,
    hidden: row.hidden,
    shadows_model: row.shadows_model,
    enabled: row.enabled,
    ...ownerOf(row),
  };
}

export function toLaneDetail(row: Row<'lanes'>, members: readonly Row<'lane_memberships'>[]): LaneDetail {
  return { ...toLane(row), members: members.map(toLaneMember) };
}

export function toLaneMember(row: Row<'lane_memberships'>): LaneMember {
  return {
    id: row.id,
    endpoint_id: row.endpoint_id,
    manual_rank: row.manual_rank,
    enabled: row.enabled,
    ...ownerOf(row),
  };
}
