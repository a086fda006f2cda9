import type { ApiKey, Credential, Endpoint, Lane, Member, Membership, Provider, Team } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { orgApiKeysQuery } from '../../api/people-queries.ts';
import {
  apiKeysQuery,
  credentialsQuery,
  endpointsQuery,
  lanesQuery,
  membershipsQuery,
  providersQuery,
  sessionQuery,
} from '../../api/queries.ts';
import { teamsQuery } from '../../api/team-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { shortId } from '../../format/short-id.ts';
import { useSubjects } from '../../parts/use-subjects.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import type { LimitNames } from './limit-words.ts';

/** The possible scopes and owners of limits that the caller can read. */
export interface LimitPlaces {
  readonly lanes: readonly Lane[];
  readonly memberships: readonly Membership[];
  readonly endpoints: readonly Endpoint[];
  readonly providers: readonly Provider[];
  readonly credentials: readonly Credential[];
  readonly members: readonly Pick<Member, 'id' | 'name' | 'email'>[];
  readonly keys: readonly ApiKey[];
  readonly teams: readonly Team[];
  readonly names: LimitNames;
}

export function useLimitPlaces(): LimitPlaces {
  const api = useApi();
  const { can } = useAccess();
  const lanes = useQuery({ ...lanesQuery(api), enabled: can('listLanes') });
  const memberships = useQuery({ ...membershipsQuery(api), enabled: can('listMemberships') });
  const endpoints = useQuery({ ...endpointsQuery(api), enabled: can('listEndpoints') });
  const providers = useQuery({ ...providersQuery(api), enabled: can('listProviders') });
  const credentials = useQuery({ ...credentialsQuery(api), enabled: can('listCredentials') });
  const members = useSubjects();
  const allKeys = useQuery({ ...orgApiKeysQuery(api), enabled: can('listOrgApiKeys') });
  const ownKeys = useQuery({ ...apiKeysQuery(api), enabled: can('listApiKeys') && !can('listOrgApiKeys') });
  const teams = useQuery({ ...teamsQuery(api), enabled: can('listTeams') });
  const session = useQuery(sessionQuery(api));
  const keys = allKeys.data ?? ownKeys.data ?? NONE;
  const self = session.data?.user;
  return useMemo(() => {
    const places = {
      lanes: lanes.data ?? NONE,
      memberships: memberships.data ?? NONE,
      endpoints: endpoints.data ?? NONE,
      providers: providers.data ?? NONE,
      credentials: credentials.data ?? NONE,
      members: members ?? (self === undefined ? NONE : [self]),
      keys,
      teams: teams.data ?? NONE,
    };
    return { ...places, names: namesOf(places) };
  }, [
    lanes.data,
    memberships.data,
    endpoints.data,
    providers.data,
    credentials.data,
    members,
    self,
    keys,
    teams.data,
  ]);
}

const NONE: never[] = [];

function namesOf(places: Omit<LimitPlaces, 'names'>): LimitNames {
  const nameOf = new Map<string, string>();
  const { lanes, endpoints, providers, credentials, members, keys, teams } = places;
  for (const { id, name } of [...lanes, ...endpoints, ...providers, ...members, ...keys, ...teams])
    nameOf.set(id, name);
  for (const { id, name, provider_id: providerId } of credentials)
    nameOf.set(id, text.limits.credentialOf(name, nameOf.get(providerId) ?? shortId(providerId)));
  const name = (id: string | null) => (id === null ? '' : (nameOf.get(id) ?? shortId(id)));
  return {
    scope: ({ scopeId }) => name(scopeId),
    // Without access to teams, the caller only sees limits of their own ones.
    subject: ({ kind, subjectId }) =>
      kind === 'resource' || (kind === 'team' && !nameOf.has(subjectId ?? '')) ? null : name(subjectId),
  };
}
