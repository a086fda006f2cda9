import type { Endpoint, Lane } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { laneTrafficQuery } from '../../api/usage-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { Panel } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { AddEndpoint } from './add-endpoint.tsx';
import { type LaneDraft, moveMember } from './lane-draft.ts';
import { narrowed } from './member-columns.ts';
import { MembersList } from './members-list.tsx';
import { TrafficShareBar } from './traffic-share-bar.tsx';
import { sharesOf } from './traffic-shares.ts';
import { useMemberFacts } from './use-member-facts.ts';

const words = text.lanes.editor;

interface MembersPanelProps {
  readonly lane: Lane;
  readonly draft: LaneDraft;
  /** Undefined while they load. */
  readonly endpoints: readonly Endpoint[] | undefined;
  readonly disabled: boolean;
  readonly set: (part: Partial<LaneDraft>) => void;
}

/** The endpoints of the lane by rank, and the others that can be added. */
export function MembersPanel({ lane, draft, endpoints, disabled, set }: MembersPanelProps) {
  const byId = useMemo(() => new Map(endpoints?.map((each) => [each.id, each])), [endpoints]);
  const inLane = new Set(draft.members.map(({ endpointId }) => endpointId));
  const { factsOf, columns } = useMemberFacts(endpoints);
  const share = useTrafficShare(lane.id, draft, columns.isOwn);
  const others = endpoints?.filter(({ id }) => !inLane.has(id)) ?? [];
  return (
    <Panel
      title={words.members}
      actions={
        share.shares.length === 0 ? null : <span className="text-xs text-ink-faint">{share.label}</span>
      }
    >
      <div className="@container px-4">
        {share.isLoading ? <Skeleton className="mt-2 h-[22px]" /> : null}
        {share.shares.length === 0 ? null : (
          <div className="pt-2">
            <TrafficShareBar shares={share.shares} label={share.label} />
          </div>
        )}
        <MembersList
          members={draft.members}
          endpointOf={(id) => byId.get(id)}
          factsOf={factsOf}
          columns={columns}
          disabled={disabled}
          onMove={(from, to) => set(moveMember(draft, from, to))}
          onSwitch={(id, enabled) =>
            set({
              members: draft.members.map((each) => (each.endpointId === id ? { ...each, enabled } : each)),
            })
          }
          onRemove={(id) => set({ members: draft.members.filter((each) => each.endpointId !== id) })}
        />
        {columns.figures && draft.members.length > 0 ? (
          <p className={classes('pt-2 text-xs text-ink-faint', narrowed.figuresBelow)}>
            {columns.isOwn ? words.ownFiguresBelow : words.figuresBelow}
          </p>
        ) : null}
        {disabled ? null : (
          <div className="pt-3 pb-1">
            {others.length === 0 && endpoints !== undefined ? (
              <p className="text-xs text-ink-faint">{words.allAdded}</p>
            ) : (
              <AddEndpoint
                endpoints={others}
                onAdd={(endpointId) => set({ members: [...draft.members, { endpointId, enabled: true }] })}
              />
            )}
          </div>
        )}
      </div>
    </Panel>
  );
}

function useTrafficShare(laneId: string, draft: LaneDraft, isOwn: boolean) {
  const api = useApi();
  const { can } = useAccess();
  const traffic = useQuery({ ...laneTrafficQuery(api, laneId), enabled: can('getTimeseries') });
  const ranked = draft.members.map(({ endpointId }) => endpointId);
  return {
    isLoading: traffic.isLoading,
    shares: sharesOf(traffic.data ?? [], ranked),
    label: isOwn ? words.ownShare : words.share,
  };
}
