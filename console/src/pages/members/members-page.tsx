import type { InvitationCreated, Member } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useCreating } from '../../address/use-creating.ts';
import { useListSearch } from '../../address/use-list-search.ts';
import { membersQuery } from '../../api/people-queries.ts';
import { sessionQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { matches } from '../../format/matches.ts';
import { formatDay } from '../../format/times.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable, nameWidth } from '../../ui/data-table.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { Signal } from '../../ui/signal.tsx';
import { Ago, Time } from '../../ui/time.tsx';
import { InvitationLinkDialog } from './invitation-link-dialog.tsx';
import { InvitationsSection } from './invitations-section.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { MemberMenu } from './member-menu.tsx';
import { roles } from './role-choice.tsx';
import { RolesPanel } from './roles-panel.tsx';

const words = text.members;

export function MembersPage() {
  const api = useApi();
  const { can } = useAccess();
  const { query, setQuery } = useListSearch();
  const [inviting, setInviting] = useCreating('/members');
  const [created, setCreated] = useState<InvitationCreated | null>(null);
  const { data: session } = useQuery(sessionQuery(api));
  const members = useQuery(membersQuery(api));
  const columns = useMemo(() => columnsOf(session?.user.id), [session]);
  const rows = useMemo(
    () =>
      members.data?.filter(({ name, email, role, id }) =>
        matches(query, name, email, words.roles[role].name, id),
      ),
    [members.data, query],
  );
  return (
    <ListPage
      title={text.pages.members}
      words={words}
      create={
        can('createInvitation') ? (
          <Button look="solid" onClick={() => setInviting(true)}>
            <UserPlus aria-hidden className="size-4" />
            {words.invite}
          </Button>
        ) : undefined
      }
      list={members}
      empty={{ title: words.empty }}
      query={query}
      onQuery={setQuery}
      shown={rows?.length}
      below={
        <div className="mt-8 space-y-8">
          <InvitationsSection members={members.data} />
          <RolesPanel members={members.data} />
        </div>
      }
      over={
        <>
          {inviting ? (
            <InviteDialog
              onClose={() => setInviting(false)}
              onInvited={(invited) => {
                setInviting(false);
                setCreated(invited);
              }}
            />
          ) : null}
          {created === null ? null : (
            <InvitationLinkDialog created={created} onClose={() => setCreated(null)} />
          )}
        </>
      }
    >
      <DataTable label={words.table} columns={columns} rows={rows} rowId={({ id }) => id} />
    </ListPage>
  );
}

function columnsOf(selfId: string | undefined): readonly Column<Member>[] {
  return [
    {
      id: 'name',
      header: words.columns.name,
      sortBy: ({ name }) => name,
      width: nameWidth,
      cell: ({ id, name, email }) => (
        <div className="min-w-0">
          <p className="flex items-center gap-2">
            <span className="truncate font-medium">{name}</span>
            {id === selfId ? <Badge>{words.you}</Badge> : null}
          </p>
          <p className="truncate text-xs text-ink-faint">{email}</p>
        </div>
      ),
    },
    {
      id: 'role',
      header: words.columns.role,
      sortBy: ({ role }) => roles.indexOf(role),
      cell: ({ role }) => <span title={words.roles[role].may}>{words.roles[role].name}</span>,
    },
    {
      id: 'status',
      header: words.columns.status,
      from: 'sm',
      sortBy: ({ status }) => status,
      // Normal is quiet: only a suspended member has a signal.
      cell: ({ status }) =>
        status === 'active' ? (
          <span className="text-ink-soft">{words.statuses[status]}</span>
        ) : (
          <Signal tone="warn">{words.statuses[status]}</Signal>
        ),
    },
    {
      id: 'joined',
      header: words.columns.joined,
      from: 'md',
      sortBy: ({ joined_at: at }) => at ?? '',
      cell: ({ joined_at: at }) => (
        <span className="whitespace-nowrap text-ink-soft">
          {at === null ? text.states.empty : <Time at={at} format={formatDay} />}
        </span>
      ),
    },
    {
      id: 'last-seen',
      header: words.columns.lastSeen,
      from: 'lg',
      sortBy: ({ last_seen_at: at }) => at ?? '',
      cell: ({ last_seen_at: at }) => (
        <span className="whitespace-nowrap text-ink-soft">
          {at === null ? text.states.never : <Ago at={at} />}
        </span>
      ),
    },
    {
      id: 'actions',
      header: words.columns.actions,
      quietHeader: true,
      align: 'right',
      cell: (member) => <MemberMenu member={member} />,
    },
  ];
}
