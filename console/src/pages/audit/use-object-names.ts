import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { endpointsQuery, lanesQuery, providersQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';

/** Names of the objects in entries, as far as the caller can read them. */
export function useObjectNames(): (id: string) => string | undefined {
  const api = useApi();
  const { can } = useAccess();
  const [lanes, endpoints, providers] = useQueries({
    queries: [
      { ...lanesQuery(api), enabled: can('listLanes') },
      { ...endpointsQuery(api), enabled: can('listEndpoints') },
      { ...providersQuery(api), enabled: can('listProviders') },
    ],
  });
  return useMemo(() => {
    const all = [...(lanes.data ?? []), ...(endpoints.data ?? []), ...(providers.data ?? [])];
    const names = new Map(all.map(({ id, name }) => [id, name]));
    return (id: string) => names.get(id);
  }, [lanes.data, endpoints.data, providers.data]);
}
