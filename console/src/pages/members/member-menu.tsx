import type { Member } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { LogOut, Power, ShieldCheck, UserMinus, UsersRound } from 'lucide-react';
import { useState } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys, sessionQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { LimitsDeletedWith } from '../../parts/deleted-limits.tsx';
import { LeaveDialog } from '../../session/leave-dialog.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { RowActions } from '../../ui/data-table.tsx';
import { MenuItem, MenuLine, MoreMenu } from '../../ui/menu.tsx';
import { RoleDialog } from './role-dialog.tsx';
import { MemberTeamDialog } from './team-dialog.tsx';

const words = text.members;
type Asked = 'role' | 'team' | 'suspend' | 'remove' | 'leave' | null;

/** The actions on a member; on oneself, leaving, whatever the role. Only owners change owners. */
export function MemberMenu({ member }: { readonly member: Member }) {
  const { data: session } = useQuery(sessionQuery(useApi()));
  const { can } = useAccess();
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => setAsked(null);
  if (session === undefined) return null;
  const isSelf = session.user.id === member.id;
  const mayWrite = can('updateMember') && (member.role !== 'owner' || session.role === 'owner');
  if (!mayWrite && !isSelf) return null;
  return (
    <RowActions>
      <MoreMenu of={member.name}>
        {mayWrite ? (
          <MenuItem icon={<ShieldCheck aria-hidden />} onSelect={() => setAsked('role')}>
            {words.changeRole}
          </MenuItem>
        ) : null}
        {mayWrite && can('listTeams') ? (
          <MenuItem icon={<UsersRound aria-hidden />} onSelect={() => setAsked('team')}>
            {text.teams.changeTeam}
          </MenuItem>
        ) : null}
        {isSelf ? null : (
          <MenuItem icon={<Power aria-hidden />} onSelect={() => setAsked('suspend')}>
            {member.status === 'suspended' ? words.activate : words.suspend}
          </MenuItem>
        )}
        {mayWrite ? <MenuLine /> : null}
        {isSelf ? (
          <MenuItem icon={<LogOut aria-hidden />} danger onSelect={() => setAsked('leave')}>
            {words.leave}
          </MenuItem>
        ) : (
          <MenuItem icon={<UserMinus aria-hidden />} danger onSelect={() => setAsked('remove')}>
            {words.remove}
          </MenuItem>
        )}
      </MoreMenu>
      {asked === 'role' ? <RoleDialog member={member} onClose={close} /> : null}
      {asked === 'team' ? <MemberTeamDialog member={member} onClose={close} /> : null}
      {asked === 'leave' ? (
        <LeaveDialog session={session} onClose={close}>
          <LimitsDeletedWith id={member.id} />
        </LeaveDialog>
      ) : null}
      {asked === 'suspend' ? <StatusDialog member={member} onClose={close} /> : null}
      {asked === 'remove' ? <RemoveDialog member={member} onClose={close} /> : null}
    </RowActions>
  );
}

interface MemberDialogProps {
  readonly member: Member;
  readonly onClose: () => void;
}

function StatusDialog({ member, onClose }: MemberDialogProps) {
  const change = useChange({
    run: (api, status: 'active' | 'suspended') =>
      take(
        api.PATCH('/api/org/members/{user_id}', {
          params: { path: { user_id: member.id } },
          body: { status },
        }),
      ),
    stale: [cacheKeys.members],
    said: ({ name, status }) => (status === 'active' ? words.activated(name) : words.suspended(name)),
    onDone: onClose,
  });
  const isSuspended = member.status === 'suspended';
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={isSuspended ? words.activateTitle(member.name) : words.suspendTitle(member.name)}
      action={isSuspended ? words.activateAction : words.suspendAction}
      tone={isSuspended ? 'solid' : 'danger'}
      busy={change.isPending}
      error={change.error}
      onConfirm={() => change.mutate(isSuspended ? 'active' : 'suspended')}
    >
      <p>{isSuspended ? words.activateBody : words.suspendBody}</p>
    </ConfirmDialog>
  );
}

function RemoveDialog({ member, onClose }: MemberDialogProps) {
  const remove = useChange({
    run: (api) => api.DELETE('/api/org/members/{user_id}', { params: { path: { user_id: member.id } } }),
    stale: [cacheKeys.members, cacheKeys.orgApiKeys],
    said: () => words.removed(member.name),
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={words.removeTitle(member.name)}
      action={words.removeAction}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
    >
      <p>{words.removeBody}</p>
      <LimitsDeletedWith id={member.id} />
    </ConfirmDialog>
  );
}
