import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { orgApiKeysQuery } from '../api/people-queries.ts';
import {
  apiKeysQuery,
  credentialsQuery,
  endpointsQuery,
  lanesQuery,
  providersQuery,
} from '../api/queries.ts';
import { teamsQuery } from '../api/team-queries.ts';
import { useApi } from '../api/use-api.ts';
import { shortId } from '../format/short-id.ts';
import { useAccess } from '../session/use-access.ts';
import { useSubjects } from './use-subjects.ts';

/** The name of any resource that a limit or a what-if names; the end of the ID of one that is gone or not readable. Reads nothing until it is needed. */
export function useTouchedNames(isNeeded = true): (id: string) => string {
  const api = useApi();
  const access = useAccess();
  const can: typeof access.can = (route) => isNeeded && access.can(route);
  const lanes = useQuery({ ...lanesQuery(api), enabled: can('listLanes') });
  const endpoints = useQuery({ ...endpointsQuery(api), enabled: can('listEndpoints') });
  const providers = useQuery({ ...providersQuery(api), enabled: can('listProviders') });
  const credentials = useQuery({ ...credentialsQuery(api), enabled: can('listCredentials') });
  const members = useSubjects(isNeeded);
  const allKeys = useQuery({ ...orgApiKeysQuery(api), enabled: can('listOrgApiKeys') });
  const ownKeys = useQuery({ ...apiKeysQuery(api), enabled: can('listApiKeys') && !can('listOrgApiKeys') });
  const teams = useQuery({ ...teamsQuery(api), enabled: can('listTeams') });
  const keys = allKeys.data ?? ownKeys.data;
  return useMemo(() => {
    const lists = [lanes.data, endpoints.data, providers.data, credentials.data, members, keys, teams.data];
    const names = new Map<string, string>();
    for (const list of lists) for (const { id, name } of list ?? []) names.set(id, name);
    return (id) => names.get(id) ?? shortId(id);
  }, [lanes.data, endpoints.data, providers.data, credentials.data, members, keys, teams.data]);
}
