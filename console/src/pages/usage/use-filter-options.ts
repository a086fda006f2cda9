import { useQuery } from '@tanstack/react-query';
import type { UsageFilterName } from '../../address/usage-search.ts';
import { orgApiKeysQuery } from '../../api/people-queries.ts';
import {
  apiKeysQuery,
  capabilitiesQuery,
  endpointsQuery,
  lanesQuery,
  providersQuery,
} from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useSubjects } from '../../parts/use-subjects.ts';
import { useAccess } from '../../session/use-access.ts';

export interface FilterOption {
  readonly id: string;
  readonly name: string;
}

/** The filter options, empty while they load; kinds that the caller cannot list are left out. */
export function useFilterOptions(): readonly (readonly [UsageFilterName, readonly FilterOption[]])[] {
  const api = useApi();
  const { can } = useAccess();
  const { data: capabilities } = useQuery(capabilitiesQuery(api));
  const accounts = capabilities?.accounts === true;
  const allKeys = can('listOrgApiKeys');
  const listsMembers = accounts && can('listMembers');
  const providers = useQuery({ ...providersQuery(api), enabled: can('listProviders') });
  const lanes = useQuery({ ...lanesQuery(api), enabled: can('listLanes') });
  const endpoints = useQuery({ ...endpointsQuery(api), enabled: can('listEndpoints') });
  const orgKeys = useQuery({ ...orgApiKeysQuery(api), enabled: allKeys });
  const ownKeys = useQuery({ ...apiKeysQuery(api), enabled: !allKeys && can('listApiKeys') });
  const members = useSubjects();
  const options: readonly (readonly [UsageFilterName, boolean, readonly FilterOption[] | undefined])[] = [
    ['provider', can('listProviders'), providers.data],
    ['lane', can('listLanes'), lanes.data],
    ['endpoint', can('listEndpoints'), endpoints.data],
    ['key', allKeys || can('listApiKeys'), orgKeys.data ?? ownKeys.data],
    ['user', listsMembers, members],
  ];
  return options.flatMap(([name, isListed, found = []]) =>
    isListed ? [[name, found.toSorted((a, b) => a.name.localeCompare(b.name))] as const] : [],
  );
}
