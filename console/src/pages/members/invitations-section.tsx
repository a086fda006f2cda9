import type { Invitation, Member } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { invitationsQuery } from '../../api/people-queries.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { type Column, DataTable, nameWidth, RowActions } from '../../ui/data-table.tsx';
import { Signal } from '../../ui/signal.tsx';
import { ErrorCard } from '../../ui/states.tsx';
import { Ago } from '../../ui/time.tsx';

const words = text.members;

/** Open and expired invitations. No skeleton, because usually there are none. */
export function InvitationsSection({ members }: { readonly members: readonly Member[] | undefined }) {
  const { can } = useAccess();
  const invitations = useQuery(invitationsQuery(useApi()));
  const rows = invitations.data?.filter(({ status }) => status !== 'accepted');
  const mayWithdraw = can('deleteInvitation');
  const columns = useMemo(() => columnsOf(members, mayWithdraw), [members, mayWithdraw]);
  if (rows === undefined)
    return invitations.error === null ? null : (
      <ErrorCard error={invitations.error} onRetry={() => void invitations.refetch()} />
    );
  if (rows.length === 0) return null;
  return (
    <section className="space-y-3">
      <h2 className="text-[13px] font-semibold">{words.invitations}</h2>
      <DataTable label={words.invitations} columns={columns} rows={rows} rowId={({ id }) => id} />
    </section>
  );
}

function columnsOf(
  members: readonly Member[] | undefined,
  mayWithdraw: boolean,
): readonly Column<Invitation>[] {
  const nameOf = new Map(members?.map(({ id, name }) => [id, name]));
  const columns: Column<Invitation>[] = [
    {
      id: 'email',
      header: words.invitationColumns.email,
      sortBy: ({ email }) => email,
      width: nameWidth,
      cell: ({ email, role }) => (
        <div className="min-w-0">
          <p className="truncate font-medium">{email}</p>
          <p className="truncate text-xs text-ink-faint sm:hidden">{words.roles[role].name}</p>
        </div>
      ),
    },
    {
      id: 'role',
      header: words.invitationColumns.role,
      from: 'sm',
      sortBy: ({ role }) => role,
      cell: ({ role }) => words.roles[role].name,
    },
    {
      id: 'status',
      header: words.invitationColumns.status,
      sortBy: ({ status }) => status,
      cell: ({ status }) => (
        <Signal tone={status === 'pending' ? 'note' : 'warn'}>{words.invitationStatuses[status]}</Signal>
      ),
    },
    {
      id: 'by',
      header: words.invitationColumns.by,
      from: 'lg',
      cell: ({ invited_by: by }) => (
        <span className="whitespace-nowrap text-ink-soft">{nameOf.get(by ?? '') ?? text.states.empty}</span>
      ),
    },
    {
      id: 'expires',
      header: words.invitationColumns.expires,
      from: 'md',
      sortBy: ({ expires_at: at }) => at,
      cell: ({ expires_at: at }) => (
        <span className="whitespace-nowrap text-ink-soft">
          <Ago at={at} />
        </span>
      ),
    },
  ];
  if (!mayWithdraw) return columns;
  const actions: Column<Invitation> = {
    id: 'actions',
    header: words.columns.actions,
    quietHeader: true,
    align: 'right',
    cell: (invitation) => (invitation.status === 'accepted' ? null : <Withdraw invitation={invitation} />),
  };
  return [...columns, actions];
}

function Withdraw({ invitation }: { readonly invitation: Invitation }) {
  const [asked, setAsked] = useState(false);
  const withdraw = useChange({
    run: (api) =>
      api.DELETE('/api/org/invitations/{invitation_id}', {
        params: { path: { invitation_id: invitation.id } },
      }),
    stale: [cacheKeys.invitations],
    said: () => words.withdrawn(invitation.email),
    onDone: () => setAsked(false),
  });
  return (
    <RowActions>
      <Button
        size="small"
        aria-label={`${words.withdraw}: ${invitation.email}`}
        onClick={() => setAsked(true)}
      >
        {words.withdraw}
      </Button>
      <ConfirmDialog
        open={asked}
        onOpenChange={setAsked}
        title={words.withdrawTitle(invitation.email)}
        action={words.withdrawAction}
        busy={withdraw.isPending}
        error={withdraw.error}
        onConfirm={() => withdraw.mutate(undefined)}
      >
        <p>{words.withdrawBody}</p>
      </ConfirmDialog>
    </RowActions>
  );
}
