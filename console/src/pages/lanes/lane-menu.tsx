import type { Lane, Membership } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { Copy, Power, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys, membershipsQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { hasCode } from '../../errors/api-error.ts';
import { ChangesItem } from '../../parts/changes-item.tsx';
import { LimitsDeletedWith } from '../../parts/deleted-limits.tsx';
import { inRankOrder } from '../../parts/rank-order.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { MenuItem, MenuLine, MoreMenu } from '../../ui/menu.tsx';

const words = text.lanes;
const STALE = [cacheKeys.lanes, cacheKeys.memberships];

/** The actions on a lane. */
export function LaneMenu({ lane, onDeleted }: { readonly lane: Lane; readonly onDeleted?: () => void }) {
  const { can } = useAccess();
  const [deleting, setDeleting] = useState(false);
  const memberships = useQuery(membershipsQuery(useApi()));
  const toggle = useToggle(lane);
  const duplicate = useDuplicate(lane, memberships.data ?? []);
  const remove = useRemove(lane, () => {
    setDeleting(false);
    onDeleted?.();
  });
  const mayWrite = can('updateLane');
  const isTaken = hasCode(remove.error, 'name_taken');
  if (!mayWrite && !can('listAuditLog')) return null;
  const isOwned = lane.managed_by === 'file';
  return (
    <>
      <ErrorNote error={toggle.error ?? duplicate.error} />
      <MoreMenu of={lane.name}>
        {mayWrite ? (
          <MenuItem
            icon={<Copy aria-hidden />}
            disabled={memberships.data === undefined}
            onSelect={() => duplicate.mutate(undefined)}
          >
            {words.duplicate}
          </MenuItem>
        ) : null}
        <ChangesItem type="lane" id={lane.id} />
        {isOwned || !mayWrite ? null : (
          <>
            <MenuItem icon={<Power aria-hidden />} onSelect={() => toggle.mutate(undefined)}>
              {lane.enabled ? text.actions.disable : text.actions.enable}
            </MenuItem>
            <MenuLine />
            <MenuItem icon={<Trash2 aria-hidden />} danger onSelect={() => setDeleting(true)}>
              {text.actions.delete}
            </MenuItem>
          </>
        )}
      </MoreMenu>
      <ConfirmDialog
        open={deleting}
        onOpenChange={setDeleting}
        title={words.deleteTitle(lane.name)}
        action={isTaken ? words.deleteAnyway : words.deleteAction}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(isTaken)}
      >
        <p>{words.deleteBody(lane.slug)}</p>
        <LimitsDeletedWith id={lane.id} />
      </ConfirmDialog>
    </>
  );
}

function settingsOf(lane: Lane) {
  const { default_max_wait_ms, allow_fallback, hold_ms, selection, priority, hidden, description } = lane;
  return { default_max_wait_ms, allow_fallback, hold_ms, selection, priority, hidden, description };
}

function useToggle(lane: Lane) {
  return useChange({
    run: (api) =>
      take(
        api.PUT('/api/relay/routing-lanes/{group_id}', {
          params: { path: { group_id: lane.id } },
          body: { ...settingsOf(lane), name: lane.name, enabled: !lane.enabled },
        }),
      ),
    stale: STALE,
    said: ({ name, enabled }) => (enabled ? words.enabled(name) : words.disabled(name)),
  });
}

/** Creates a lane with the same settings and endpoints under another name. */
function useDuplicate(lane: Lane, memberships: readonly Membership[]) {
  return useChange({
    run: (api) => {
      const own = inRankOrder(memberships.filter(({ lane_id: id }) => id === lane.id));
      const members = own.map(({ endpoint_id, enabled }) => ({ endpoint_id, enabled }));
      return take(
        api.POST('/api/relay/routing-lanes', {
          body: { ...settingsOf(lane), name: words.copyName(lane.name), enabled: lane.enabled, members },
        }),
      );
    },
    stale: STALE,
    said: ({ name }) => words.duplicated(name),
  });
}

function useRemove(lane: Lane, onDone: () => void) {
  return useChange({
    run: (api, takesOver: boolean) =>
      api.DELETE('/api/relay/routing-lanes/{group_id}', {
        params: { path: { group_id: lane.id }, query: takesOver ? { takes_over: true } : {} },
      }),
    stale: STALE,
    said: () => words.deleted(lane.name),
    onDone,
  });
}
