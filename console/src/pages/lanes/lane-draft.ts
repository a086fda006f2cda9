import type { Lane, LaneDetail } from '@relay/contract';

/** The edited state of a lane, before it is saved. */
export interface LaneDraft {
  readonly name: string;
  readonly description: string;
  readonly default_max_wait_ms: number;
  readonly allow_fallback: boolean;
  readonly hold_ms: number;
  readonly selection: Lane['selection'];
  readonly priority: Lane['priority'];
  readonly hidden: boolean;
  readonly enabled: boolean;
  /** By rank. */
  readonly members: readonly DraftMember[];
}

export interface DraftMember {
  readonly endpointId: string;
  readonly enabled: boolean;
}

export type FieldName = Exclude<keyof LaneDraft, 'members'>;

export type LaneChange =
  | { readonly kind: 'field'; readonly field: FieldName; readonly from: unknown; readonly to: unknown }
  | { readonly kind: 'added'; readonly endpointId: string; readonly place: number }
  | { readonly kind: 'removed'; readonly endpointId: string }
  | { readonly kind: 'moved'; readonly endpointId: string; readonly from: number; readonly to: number }
  | { readonly kind: 'switched'; readonly endpointId: string; readonly enabled: boolean };

const FIELDS: readonly FieldName[] = [
  'name',
  'description',
  'default_max_wait_ms',
  'allow_fallback',
  'hold_ms',
  'selection',
  'priority',
  'hidden',
  'enabled',
];

export function draftOf(lane: LaneDetail): LaneDraft {
  return {
    name: lane.name,
    description: lane.description ?? '',
    default_max_wait_ms: lane.default_max_wait_ms,
    allow_fallback: lane.allow_fallback,
    hold_ms: lane.hold_ms,
    selection: lane.selection,
    priority: lane.priority,
    hidden: lane.hidden,
    enabled: lane.enabled,
    members: lane.members.map(({ endpoint_id: endpointId, enabled }) => ({ endpointId, enabled })),
  };
}

/** The changes that saving would make. Ranks count from 1. */
export function changesOf(saved: LaneDraft, draft: LaneDraft): readonly LaneChange[] {
  const changes: LaneChange[] = [];
  for (const field of FIELDS) {
    if (saved[field] !== draft[field])
      changes.push({ kind: 'field', field, from: saved[field], to: draft[field] });
  }
  const before = new Map(
    saved.members.map((member, index) => [member.endpointId, { member, place: index + 1 }]),
  );
  const kept = new Set(draft.members.map(({ endpointId }) => endpointId));
  for (const { endpointId } of saved.members) {
    if (!kept.has(endpointId)) changes.push({ kind: 'removed', endpointId });
  }
  // Compares the order of remaining endpoints only, because additions and removals shift ranks too.
  const stayed = saved.members
    .filter(({ endpointId }) => kept.has(endpointId))
    .map((each) => each.endpointId);
  const order = draft.members
    .filter(({ endpointId }) => before.has(endpointId))
    .map((each) => each.endpointId);
  for (const [index, { endpointId, enabled }] of draft.members.entries()) {
    const was = before.get(endpointId);
    if (was === undefined) {
      changes.push({ kind: 'added', endpointId, place: index + 1 });
      continue;
    }
    if (stayed.indexOf(endpointId) !== order.indexOf(endpointId))
      changes.push({ kind: 'moved', endpointId, from: was.place, to: index + 1 });
    if (was.member.enabled !== enabled) changes.push({ kind: 'switched', endpointId, enabled });
  }
  return changes;
}

export function moveMember(draft: LaneDraft, from: number, to: number): LaneDraft {
  if (to < 0 || to >= draft.members.length || from === to) return draft;
  const members = [...draft.members];
  const [moved] = members.splice(from, 1);
  if (moved === undefined) return draft;
  members.splice(to, 0, moved);
  return { ...draft, members };
}
