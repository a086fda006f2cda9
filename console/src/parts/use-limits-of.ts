import type { DeletedLimit } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { limitPoliciesQuery, userBudgetsQuery } from '../api/limit-queries.ts';
import { apiKeyBudgetsQuery } from '../api/queries.ts';
import { teamBudgetsQuery } from '../api/team-queries.ts';
import { useApi } from '../api/use-api.ts';
import { useAccess } from '../session/use-access.ts';

/** The limits on a resource, or of a member or team, as far as the caller can read them. */
export function useLimitsOf(id: string): readonly DeletedLimit[] {
  const api = useApi();
  const { can } = useAccess();
  const shared = useQuery({ ...limitPoliciesQuery(api), enabled: can('listLimitPolicies') });
  const ofMembers = useQuery({ ...userBudgetsQuery(api), enabled: can('listUserLimitPolicies') });
  const ofKeys = useQuery({ ...apiKeyBudgetsQuery(api), enabled: can('listApiKeyLimitPolicies') });
  const ofTeams = useQuery({ ...teamBudgetsQuery(api), enabled: can('listTeamLimitPolicies') });
  const all: readonly DeletedLimit[] = [
    ...(shared.data ?? []).map((each) => ({
      ...limitOf(each),
      ...kindOf('resource', null),
      scope_type: each.scope_type,
      scope_id: each.scope_id,
    })),
    ...(ofMembers.data ?? []).map((each) => ({ ...targetedLimit(each), ...kindOf('user', each.user_uuid) })),
    ...(ofKeys.data ?? []).map((each) => ({
      ...targetedLimit(each),
      ...kindOf('api_key', each.api_key_uuid),
    })),
    ...(ofTeams.data ?? []).map((each) => ({ ...targetedLimit(each), ...kindOf('team', each.team_uuid) })),
  ];
  return all.filter(({ subject_id: subject, scope_id: scope }) => subject === id || scope === id);
}

type Rule = Pick<DeletedLimit, 'metric' | 'period'> & { readonly id: string; readonly limit_value: number };

function limitOf({ id, metric, period, limit_value: limit }: Rule) {
  return { policy_id: id, metric, period, limit };
}

function targetedLimit({
  target_type: scope_type,
  target_id: scope_id,
  ...rule
}: Rule & {
  readonly target_type: DeletedLimit['scope_type'];
  readonly target_id: DeletedLimit['scope_id'];
}) {
  return { ...limitOf(rule), scope_type, scope_id };
}

function kindOf(policy_kind: DeletedLimit['policy_kind'], subject_id: string | null) {
  return { policy_kind, subject_id };
}
