import type { Lane, Membership } from '@relay/contract';
import { type Api, take } from '../../api/client.ts';
import type { LaneDraft } from './lane-draft.ts';

/** Saves the draft with as few writes as possible. */
export async function saveLane(
  api: Api,
  lane: Lane,
  memberships: readonly Membership[],
  draft: LaneDraft,
): Promise<Lane> {
  const { members, description, ...fields } = draft;
  const saved = await take(
    api.PUT('/api/relay/routing-lanes/{group_id}', {
      params: { path: { group_id: lane.id } },
      body: { ...fields, description: description.trim() === '' ? null : description.trim() },
    }),
  );
  const wanted = new Set(members.map(({ endpointId }) => endpointId));
  for (const { id, endpoint_id: endpointId } of memberships) {
    if (wanted.has(endpointId)) continue;
    await api.DELETE('/api/relay/lane-memberships/{membership_id}', {
      params: { path: { membership_id: id } },
    });
  }
  for (const [index, { endpointId, enabled }] of members.entries()) {
    const rank = index + 1;
    const before = memberships.find(({ endpoint_id: id }) => id === endpointId);
    if (before === undefined) {
      await api.POST('/api/relay/lane-memberships', {
        body: { lane_id: lane.id, endpoint_id: endpointId, manual_rank: rank, enabled },
      });
    } else if (before.manual_rank !== rank || before.enabled !== enabled) {
      await api.PUT('/api/relay/lane-memberships/{membership_id}', {
        params: { path: { membership_id: before.id } },
        body: { manual_rank: rank, enabled },
      });
    }
  }
  return saved;
}
