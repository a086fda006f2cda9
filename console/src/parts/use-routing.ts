import { useQueries } from '@tanstack/react-query';
import { endpointsQuery, lanesQuery, membershipsQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { useAccess } from '../session/use-access.ts';
import type { Routing } from './model-choices.ts';

/** What tells which operations a lane or model can answer; undefined if the caller may not read it. */
export function useRouting(): { readonly routing: Routing | undefined; readonly isLoading: boolean } {
  const api = useApi();
  const { can } = useAccess();
  const [endpoints, lanes, memberships] = useQueries({
    queries: [
      { ...endpointsQuery(api), enabled: can('listEndpoints') },
      { ...lanesQuery(api), enabled: can('listLanes') },
      { ...membershipsQuery(api), enabled: can('listMemberships') },
    ],
  });
  const isLoading = endpoints.isLoading || lanes.isLoading || memberships.isLoading;
  if (endpoints.data === undefined || lanes.data === undefined || memberships.data === undefined)
    return { routing: undefined, isLoading };
  return {
    routing: { endpoints: endpoints.data, lanes: lanes.data, memberships: memberships.data },
    isLoading,
  };
}
