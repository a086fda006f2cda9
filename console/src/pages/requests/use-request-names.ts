import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { guardrailsQuery } from '../../api/guardrail-queries.ts';
import { membersQuery, orgApiKeysQuery } from '../../api/people-queries.ts';
import {
  apiKeysQuery,
  capabilitiesQuery,
  endpointsQuery,
  lanesQuery,
  providersQuery,
} from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { shortId } from '../../format/short-id.ts';
import { useAccess } from '../../session/use-access.ts';

/** Names by ID for each kind; undefined without access. */
export interface RequestNames {
  readonly lane: Names | undefined;
  readonly endpoint: Names | undefined;
  readonly provider: Names | undefined;
  readonly key: Names | undefined;
  readonly user: Names | undefined;
  readonly guardrail: Names | undefined;
}
type Names = ReadonlyMap<string, string>;

/** The names of the IDs in the log. */
export function useRequestNames(): RequestNames {
  const api = useApi();
  const { can } = useAccess();
  const { data: capabilities } = useQuery(capabilitiesQuery(api));
  const hasPeople = capabilities?.accounts === true;
  const allKeys = can('listOrgApiKeys');
  const lanes = useQuery({ ...lanesQuery(api), enabled: can('listLanes') });
  const endpoints = useQuery({ ...endpointsQuery(api), enabled: can('listEndpoints') });
  const providers = useQuery({ ...providersQuery(api), enabled: can('listProviders') });
  const guardrails = useQuery({ ...guardrailsQuery(api), enabled: can('listGuardrails') });
  const keysOfAll = useQuery({ ...orgApiKeysQuery(api), enabled: allKeys });
  const ownKeys = useQuery({ ...apiKeysQuery(api), enabled: !allKeys && can('listApiKeys') });
  const members = useQuery({ ...membersQuery(api), enabled: hasPeople && can('listMembers') });
  const keys = keysOfAll.data ?? ownKeys.data;
  return useMemo(
    () => ({
      lane: lanes.data && namesOf(lanes.data),
      endpoint: endpoints.data && namesOf(endpoints.data),
      provider: providers.data && namesOf(providers.data),
      key: keys && namesOf(keys),
      user: members.data && namesOf(members.data),
      guardrail: guardrails.data && namesOf(guardrails.data),
    }),
    [lanes.data, endpoints.data, providers.data, keys, members.data, guardrails.data],
  );
}

export function namesOf(list: readonly { readonly id: string; readonly name: string }[]): Names {
  return new Map(list.map(({ id, name }) => [id, name]));
}

/** The name, or the end of the ID of a deleted resource. */
export function nameIn(names: Names | undefined, id: string): string {
  return names?.get(id) ?? shortId(id);
}
