import type { Endpoint } from '@relay/contract';
import { useMemo } from 'react';
import { text } from '../../text/index.ts';
import { Panel } from '../../ui/page.tsx';
import { AddEndpoint } from './add-endpoint.tsx';
import { type LaneDraft, moveMember } from './lane-draft.ts';
import { MembersList } from './members-list.tsx';

const words = text.lanes.editor;

interface MembersPanelProps {
  readonly draft: LaneDraft;
  /** Undefined while they load. */
  readonly endpoints: readonly Endpoint[] | undefined;
  readonly disabled: boolean;
  readonly set: (part: Partial<LaneDraft>) => void;
}

/** The endpoints of the lane by rank, and the others that can be added. */
export function MembersPanel({ draft, endpoints, disabled, set }: MembersPanelProps) {
  const byId = useMemo(() => new Map(endpoints?.map((each) => [each.id, each])), [endpoints]);
  const inLane = new Set(draft.members.map(({ endpointId }) => endpointId));
  const others = endpoints?.filter(({ id }) => !inLane.has(id)) ?? [];
  return (
    <Panel title={words.members}>
      <MembersList
        members={draft.members}
        endpointOf={(id) => byId.get(id)}
        disabled={disabled}
        onMove={(from, to) => set(moveMember(draft, from, to))}
        onSwitch={(id, enabled) =>
          set({
            members: draft.members.map((each) => (each.endpointId === id ? { ...each, enabled } : each)),
          })
        }
        onRemove={(id) => set({ members: draft.members.filter((each) => each.endpointId !== id) })}
      />
      {disabled ? null : (
        <div className="border-t px-4 py-3">
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
    </Panel>
  );
}
