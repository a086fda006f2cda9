import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { membersQuery, orgApiKeysQuery } from '../../api/people-queries.ts';
import { apiKeysQuery, sessionQuery } from '../../api/queries.ts';
import { teamsQuery } from '../../api/team-queries.ts';
import { dayFiguresQuery } from '../../api/usage-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';
import type { NewKey } from './create-key.ts';
import { type KeyDays, keyColumns } from './key-columns.tsx';
import { useKeyBudgets } from './use-key-budgets.ts';

/** The caller's keys or those of all members, and the columns of their table. */
export function useKeys(ofAll: boolean, onCreated: (created: NewKey) => void) {
  const api = useApi();
  const { can } = useAccess();
  const { data: session } = useQuery(sessionQuery(api));
  const selfId = session?.user.id;
  const budgets = useKeyBudgets(ofAll, selfId);
  const own = useQuery({ ...apiKeysQuery(api), enabled: !ofAll });
  const all = useQuery({ ...orgApiKeysQuery(api), enabled: ofAll });
  const members = useQuery({ ...membersQuery(api), enabled: ofAll });
  const { data: teamList } = useQuery({ ...teamsQuery(api), enabled: can('listTeams') });
  const owners = useMemo(
    () => (ofAll ? new Map(members.data?.map(({ id, name }) => [id, name])) : null),
    [ofAll, members.data],
  );
  const teams = useMemo(() => new Map(teamList?.map(({ id, name }) => [id, name])), [teamList]);
  const days = useKeyDays();
  const columns = useMemo(
    () => keyColumns({ budgets, days, selfId, owners, teams, onCreated }),
    [budgets, days, selfId, owners, teams, onCreated],
  );
  return { keys: ofAll ? all : own, columns, owners };
}

function useKeyDays(): KeyDays {
  const api = useApi();
  const enabled = useAccess().can('getTimeseries');
  const { data: requests } = useQuery({ ...dayFiguresQuery(api, 'api_key', 'requests'), enabled });
  const { data: spend } = useQuery({ ...dayFiguresQuery(api, 'api_key', 'cost_micros'), enabled });
  return useMemo(() => ({ requests, spend }), [requests, spend]);
}
