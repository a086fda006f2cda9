import type { LaneDetail, LaneUpdate } from '@relay/contract';
import type { Api } from '../../api/client.ts';
import { type StoredLane, storedLane } from '../../api/queries.ts';
import { changesOf, draftOf, type LaneDraft } from './lane-draft.ts';

export interface SaveOptions {
  /** The save may change what a callable name stands for. */
  readonly takesOver: boolean;
}

/**
 * Saves the draft in one write, all of it or nothing. The server refuses it when the lane or one of its members has changed
 * since it was read.
 */
export function saveLane(
  api: Api,
  { lane, etag }: StoredLane,
  draft: LaneDraft,
  { takesOver }: SaveOptions,
): Promise<StoredLane> {
  return storedLane(
    api.PUT('/api/relay/routing-lanes/{group_id}', {
      params: { path: { group_id: lane.id }, header: { 'If-Match': etag } },
      body: { ...bodyOf(lane, draft), ...(takesOver ? { takes_over: true } : {}) },
    }),
  );
}

/** What a save of the draft sends, and what what-if and explain try before it. */
export function bodyOf(lane: LaneDetail, draft: LaneDraft): LaneUpdate {
  const { members, description, ...fields } = draft;
  const hasOtherMembers = changesOf(draftOf(lane), draft).some(({ kind }) => kind !== 'field');
  return {
    ...fields,
    description: description.trim() === '' ? null : description.trim(),
    // The position of a member is its rank.
    ...(hasOtherMembers
      ? { members: members.map(({ endpointId, enabled }) => ({ endpoint_id: endpointId, enabled })) }
      : {}),
  };
}
