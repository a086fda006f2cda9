import type { Member } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { EllipsisVertical, LogOut, Power, ShieldCheck, UserMinus } from 'lucide-react';
import { useState } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys, sessionQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { LeaveDialog } from '../../parts/leave-dialog.tsx';
import { text } from '../../text/index.ts';
import { IconButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { RowActions } from '../../ui/data-table.tsx';
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx';
import { RoleDialog } from './role-dialog.tsx';

const words = text.members;
type Asked = 'role' | 'suspend' | 'remove' | 'leave' | null;

/** What can be done with a member; with oneself, leaving. */
export function MemberMenu({ member }: { readonly member: Member }) {
  const { data: session } = useQuery(sessionQuery(useApi()));
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => setAsked(null);
  const params = { path: { user_id: member.id } };
  const setStatus = useChange({
    run: (api, status: 'active' | 'suspended') =>
      take(api.PATCH('/api/org/members/{user_id}', { params, body: { status } })),
    stale: [cacheKeys.members],
    said: ({ name, status }) => (status === 'active' ? words.activated(name) : words.suspended(name)),
    onDone: close,
  });
  const remove = useChange({
    run: (api) => api.DELETE('/api/org/members/{user_id}', { params }),
    stale: [cacheKeys.members, cacheKeys.orgApiKeys],
    said: () => words.removed(member.name),
    onDone: close,
  });
  if (session === undefined) return null;
  const isSelf = session.user.id === member.id;
  return (
    <RowActions>
      <Menu
        trigger={
          <IconButton label={`${text.actions.more}: ${member.name}`}>
            <EllipsisVertical aria-hidden className="size-4" />
          </IconButton>
        }
      >
        <MenuItem icon={<ShieldCheck aria-hidden />} onSelect={() => setAsked('role')}>
          {words.changeRole}
        </MenuItem>
        {isSelf ? null : (
          <MenuItem icon={<Power aria-hidden />} onSelect={() => setAsked('suspend')}>
            {member.status === 'suspended' ? words.activate : words.suspend}
          </MenuItem>
        )}
        <MenuLine />
        {isSelf ? (
          <MenuItem icon={<LogOut aria-hidden />} danger onSelect={() => setAsked('leave')}>
            {words.leave}
          </MenuItem>
        ) : (
          <MenuItem icon={<UserMinus aria-hidden />} danger onSelect={() => setAsked('remove')}>
            {words.remove}
          </MenuItem>
        )}
      </Menu>
      {asked === 'role' ? <RoleDialog member={member} onClose={close} /> : null}
      {asked === 'leave' ? <LeaveDialog session={session} onClose={close} /> : null}
      <StatusDialog
        member={member}
        open={asked === 'suspend'}
        busy={setStatus.isPending}
        error={setStatus.error}
        onClose={close}
        onConfirm={setStatus.mutate}
      />
      <ConfirmDialog
        open={asked === 'remove'}
        onOpenChange={close}
        title={words.removeTitle(member.name)}
        action={words.remove}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(undefined)}
      >
        <p>{words.removeBody}</p>
      </ConfirmDialog>
    </RowActions>
  );
}

function StatusDialog({ member, open, busy, error, onClose, onConfirm }: StatusDialogProps) {
  const isSuspended = member.status === 'suspended';
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onClose}
      title={isSuspended ? words.activateTitle(member.name) : words.suspendTitle(member.name)}
      action={isSuspended ? words.activate : words.suspend}
      tone={isSuspended ? 'solid' : 'danger'}
      busy={busy}
      error={error}
      onConfirm={() => onConfirm(isSuspended ? 'active' : 'suspended')}
    >
      <p>{isSuspended ? words.activateBody : words.suspendBody}</p>
    </ConfirmDialog>
  );
}

interface StatusDialogProps {
  readonly member: Member;
  readonly open: boolean;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onClose: () => void;
  readonly onConfirm: (status: 'active' | 'suspended') => void;
}
