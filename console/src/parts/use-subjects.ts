import { DEPLOYMENT_USER_ID, type Member } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { membersQuery } from '../api/people-queries.ts';
import { capabilitiesQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { useAccess } from '../session/use-access.ts';
import { text } from '../text/index.ts';

type Subject = Pick<Member, 'id' | 'name' | 'email'>;

/** Whose keys, limits and changes there are: the members, and the admin token of a self-hosted deployment. Undefined while unknown. */
export function useSubjects(isNeeded = true): readonly Subject[] | undefined {
  const api = useApi();
  const { can } = useAccess();
  const { data: capabilities } = useQuery(capabilitiesQuery(api));
  const { data: members } = useQuery({ ...membersQuery(api), enabled: isNeeded && can('listMembers') });
  return useMemo(() => {
    const isListed = members?.some(({ id }) => id === DEPLOYMENT_USER_ID);
    if (members === undefined || isListed === true || capabilities?.mode !== 'self_hosted') return members;
    return [...members, { id: DEPLOYMENT_USER_ID, name: text.signIn.token, email: '' }];
  }, [members, capabilities?.mode]);
}
