import type { Team } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Pencil, Trash2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useListSearch } from '../../address/use-list-search.ts';
import { membersQuery, orgApiKeysQuery } from '../../api/people-queries.ts';
import { cacheKeys } from '../../api/queries.ts';
import { teamBudgetsQuery, teamsQuery } from '../../api/team-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { matches } from '../../format/matches.ts';
import { formatCount } from '../../format/numbers.ts';
import { LimitsDeletedWith } from '../../parts/deleted-limits.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { type Column, DataTable, nameWidth, RowActions } from '../../ui/data-table.tsx';
import { CreateButton, ListPage } from '../../ui/list-page.tsx';
import { MenuItem, MenuLine, MoreMenu } from '../../ui/menu.tsx';
import { TeamDialog } from './team-dialog.tsx';

const words = text.teams;
const LOOK = 'underline decoration-line-strong underline-offset-2 hover:decoration-current';

/** A team with what belongs to it. */
interface TeamRow extends Team {
  readonly parent: string | null;
  readonly members: number;
  readonly keys: number;
  readonly budgets: number;
}

export function TeamsPage() {
  const { can } = useAccess();
  const { query, setQuery } = useListSearch();
  const [creating, setCreating] = useState(false);
  const { teams, rows: all } = useTeamRows();
  const mayWrite = can('updateTeam');
  const columns = useMemo(() => columnsOf(teams.data ?? [], mayWrite), [teams.data, mayWrite]);
  const rows = useMemo(
    () => all?.filter(({ name, slug, id, parent }) => matches(query, name, slug, id, parent ?? '')),
    [all, query],
  );
  return (
    <ListPage
      title={text.pages.teams}
      words={words}
      create={
        can('createTeam') ? (
          <CreateButton label={words.create} onClick={() => setCreating(true)} />
        ) : undefined
      }
      list={teams}
      empty={{ title: words.empty }}
      query={query}
      onQuery={setQuery}
      shown={rows?.length}
      over={
        creating ? (
          <TeamDialog team={null} teams={teams.data ?? []} onClose={() => setCreating(false)} />
        ) : null
      }
    >
      <DataTable label={words.table} columns={columns} rows={rows} rowId={({ id }) => id} />
    </ListPage>
  );
}

function useTeamRows() {
  const api = useApi();
  const { can } = useAccess();
  const teams = useQuery(teamsQuery(api));
  const budgets = useQuery(teamBudgetsQuery(api));
  const members = useQuery({ ...membersQuery(api), enabled: can('listMembers') });
  const keys = useQuery({ ...orgApiKeysQuery(api), enabled: can('listOrgApiKeys') });
  const rows = useMemo(() => {
    const names = new Map(teams.data?.map(({ id, name }) => [id, name]));
    const active = keys.data?.filter(({ status }) => status === 'active');
    return teams.data?.map(
      (team): TeamRow => ({
        ...team,
        parent: names.get(team.parent_id ?? '') ?? null,
        members: countOf(members.data, team.id),
        keys: countOf(active, team.id),
        budgets: budgets.data?.filter(({ team_uuid: id }) => id === team.id).length ?? 0,
      }),
    );
  }, [teams.data, budgets.data, members.data, keys.data]);
  return { teams, rows };
}

function countOf(of: readonly { readonly team_id: string | null }[] | undefined, teamId: string): number {
  return of?.filter(({ team_id }) => team_id === teamId).length ?? 0;
}

function columnsOf(teams: readonly Team[], mayWrite: boolean): readonly Column<TeamRow>[] {
  const columns: Column<TeamRow>[] = [
    {
      id: 'name',
      header: words.columns.name,
      sortBy: ({ name }) => name,
      width: nameWidth,
      cell: ({ name, slug }) => (
        <div className="min-w-0">
          <p className="truncate font-medium">{name}</p>
          <p className="truncate text-xs text-ink-faint">{slug}</p>
        </div>
      ),
    },
    { id: 'kind', header: words.columns.kind, from: 'md', cell: ({ kind }) => words.kinds[kind] },
    {
      id: 'parent',
      header: words.columns.parent,
      from: 'sm',
      sortBy: ({ parent }) => parent ?? '',
      cell: ({ parent }) => parent ?? '—',
    },
    {
      id: 'members',
      header: words.columns.members,
      from: 'md',
      align: 'right',
      sortBy: ({ members }) => members,
      cell: ({ members }) => formatCount(members),
    },
    {
      id: 'keys',
      header: words.columns.keys,
      from: 'md',
      align: 'right',
      sortBy: ({ keys }) => keys,
      cell: ({ keys }) => formatCount(keys),
    },
    {
      id: 'budgets',
      header: words.columns.budgets,
      sortBy: ({ budgets }) => budgets,
      cell: ({ name, budgets }) => (
        <Link to="/limits" search={{ kind: 'team', q: name }} className={`whitespace-nowrap ${LOOK}`}>
          {budgets === 0 ? words.noBudgets : words.budgetCount(budgets)}
        </Link>
      ),
    },
  ];
  if (!mayWrite) return columns;
  const actions: Column<TeamRow> = {
    id: 'actions',
    header: words.columns.actions,
    quietHeader: true,
    align: 'right',
    cell: (team) => <TeamMenu team={team} teams={teams} />,
  };
  return [...columns, actions];
}

function TeamMenu({ team, teams }: { readonly team: Team; readonly teams: readonly Team[] }) {
  const [asked, setAsked] = useState<'edit' | 'delete' | null>(null);
  const close = () => setAsked(null);
  const remove = useChange({
    run: (api) => api.DELETE('/api/relay/teams/{team_id}', { params: { path: { team_id: team.id } } }),
    stale: [
      cacheKeys.teams,
      cacheKeys.teamBudgets,
      cacheKeys.limitUsage,
      cacheKeys.members,
      cacheKeys.apiKeys,
      cacheKeys.orgApiKeys,
    ],
    said: () => words.deleted(team.name),
    onDone: close,
  });
  return (
    <RowActions>
      <MoreMenu of={team.name}>
        <MenuItem icon={<Pencil aria-hidden />} onSelect={() => setAsked('edit')}>
          {text.actions.edit}
        </MenuItem>
        <MenuLine />
        <MenuItem icon={<Trash2 aria-hidden />} danger onSelect={() => setAsked('delete')}>
          {text.actions.delete}
        </MenuItem>
      </MoreMenu>
      {asked === 'edit' ? <TeamDialog team={team} teams={teams} onClose={close} /> : null}
      <ConfirmDialog
        open={asked === 'delete'}
        onOpenChange={close}
        title={words.deleteTitle(team.name)}
        action={words.deleteTeam}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(undefined)}
      >
        <p>{words.deleteBody}</p>
        <LimitsDeletedWith id={team.id} />
      </ConfirmDialog>
    </RowActions>
  );
}
