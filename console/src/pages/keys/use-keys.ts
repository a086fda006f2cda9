import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { membersQuery, orgApiKeysQuery } from '../../api/people-queries.ts';
import { apiKeysQuery, sessionQuery } from '../../api/queries.ts';
import { teamsQuery } from '../../api/team-queries.ts';
import { apiKeyStatsQuery, dayIn } from '../../api/traffic-stats-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useSubjects } from '../../parts/use-subjects.ts';
import { useTouchedNames } from '../../parts/use-touched-names.ts';
import { useAccess } from '../../session/use-access.ts';
import type { NewKey } from './create-key.ts';
import { keyColumns } from './key-columns.tsx';
import type { OpenedKey } from './key-panel.tsx';
import { useKeyLimits } from './use-key-limits.ts';

const REFRESH_MS = 60_000;

interface RowActions {
  /** Shows the secret of a key that was rotated. */
  readonly onCreated: (created: NewKey) => void;
  readonly open: (id: string) => void;
}

/** The keys of all members, or the caller's own without access to them, and the columns of their table. */
export function useKeys({ onCreated, open }: RowActions) {
  const api = useApi();
  const { can } = useAccess();
  const ofAll = can('listOrgApiKeys');
  const { data: session } = useQuery(sessionQuery(api));
  const self = session?.user;
  const own = useQuery({ ...apiKeysQuery(api), enabled: !ofAll });
  const all = useQuery({ ...orgApiKeysQuery(api), enabled: ofAll });
  const subjects = useSubjects();
  const { data: members } = useQuery({ ...membersQuery(api), enabled: can('listMembers') });
  const { data: teamList } = useQuery({ ...teamsQuery(api), enabled: can('listTeams') });
  const limits = useKeyLimits(ofAll, self?.id, { members, teams: teamList });
  const owners = useMemo(
    () => (ofAll ? new Map(subjects?.map(({ id, name }) => [id, name])) : null),
    [ofAll, subjects],
  );
  const teams = useMemo(() => new Map(teamList?.map(({ id, name }) => [id, name])), [teamList]);
  const { data: day } = useQuery({
    ...apiKeyStatsQuery(api),
    enabled: can('getApiKeyStats'),
    refetchInterval: REFRESH_MS,
  });
  const nameOf = useTouchedNames();
  const columns = useMemo(
    () => keyColumns({ limits, day, selfId: self?.id, owners, teams, nameOf, onCreated, open }),
    [limits, day, self?.id, owners, teams, nameOf, onCreated, open],
  );
  const keys = ofAll ? all : own;
  const openedOf = (openId: string | null): OpenedKey | null => {
    const apiKey = keys.data?.find(({ id }) => id === openId);
    if (apiKey === undefined) return null;
    const { id, user_uuid: ownerId, team_id: teamId } = apiKey;
    return {
      apiKey,
      isOwn: ownerId === self?.id,
      ownerName: (ownerId === self?.id ? self.name : owners?.get(ownerId)) ?? null,
      teamName: teamId === null ? null : (teams.get(teamId) ?? null),
      limits: limits?.(apiKey),
      day: dayIn(day, id),
    };
  };
  return { keys, columns, owners, openedOf, selfId: self?.id };
}
