import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { membersQuery, orgApiKeysQuery } from '../../api/people-queries.ts';
import { endpointsQuery, lanesQuery, providersQuery } from '../../api/queries.ts';
import { teamsQuery } from '../../api/team-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';

/** Names of the objects in entries, as far as the caller can read them. */
export function useObjectNames(): (id: string) => string | undefined {
  const api = useApi();
  const { can } = useAccess();
  const [lanes, endpoints, providers, members, keys, teams] = useQueries({
    queries: [
      { ...lanesQuery(api), enabled: can('listLanes') },
      { ...endpointsQuery(api), enabled: can('listEndpoints') },
      { ...providersQuery(api), enabled: can('listProviders') },
      { ...membersQuery(api), enabled: can('listMembers') },
      { ...orgApiKeysQuery(api), enabled: can('listOrgApiKeys') },
      { ...teamsQuery(api), enabled: can('listTeams') },
    ],
  });
  return useMemo(() => {
    const all: readonly { readonly id: string; readonly name: string }[] = [
      ...(lanes.data ?? []),
      ...(endpoints.data ?? []),
      ...(providers.data ?? []),
      ...(members.data ?? []),
      ...(keys.data ?? []),
      ...(teams.data ?? []),
    ];
    const names = new Map(all.map(({ id, name }) => [id, name]));
    return (id: string) => names.get(id);
  }, [lanes.data, endpoints.data, providers.data, members.data, keys.data, teams.data]);
}
