import { useQueries } from '@tanstack/react-query';
import { userBudgetsQuery } from '../api/limit-queries.ts';
import { apiKeyBudgetsQuery, limitUsageQuery } from '../api/queries.ts';
import { teamBudgetsQuery } from '../api/team-queries.ts';
import { useApi } from '../api/use-api.ts';
import { placeOf, ruleOf } from '../parts/limit-metrics.ts';
import { useTouchedNames } from '../parts/use-touched-names.ts';
import { useAccess } from '../session/use-access.ts';
import { text } from '../text/index.ts';
import type { Target } from './palette-target.ts';

/** Every enabled limit by its rule and what it applies to: "$40.00 per month on lane Assistant". Read once something is typed. */
export function useLimitTargets(isTyped: boolean): readonly Target[] {
  const api = useApi();
  const { can } = useAccess();
  const nameOf = useTouchedNames(isTyped);
  const enabled = isTyped && can('listLimitUsage');
  const [usage, users, keys, teams] = useQueries({
    queries: [
      { ...limitUsageQuery(api), enabled, refetchInterval: false as const },
      { ...userBudgetsQuery(api), enabled: enabled && can('listUserLimitPolicies') },
      { ...apiKeyBudgetsQuery(api), enabled: enabled && can('listApiKeyLimitPolicies') },
      { ...teamBudgetsQuery(api), enabled: enabled && can('listTeamLimitPolicies') },
    ],
  });
  if (!isTyped) return [];
  const subjects = new Map<string, string>([
    ...(users.data ?? []).map(({ id, user_uuid: of }) => [id, of] as const),
    ...(keys.data ?? []).map(({ id, api_key_uuid: of }) => [id, of] as const),
    ...(teams.data ?? []).map(({ id, team_uuid: of }) => [id, of] as const),
  ]);
  return (usage.data ?? []).map((limit) => {
    const { policy_id: id, policy_kind: kind, scope_type: scope, scope_id: scopeId } = limit;
    const subject = subjects.get(id);
    const place = placeOf(
      { kind, scope },
      scopeId === null ? '' : nameOf(scopeId),
      subject === undefined ? null : nameOf(subject),
    );
    return {
      value: `limit ${id}`,
      label: `${ruleOf(limit)} ${place}`,
      kind: text.palette.kinds.limit,
      to: '/limits',
      search: { open: id },
    };
  });
}
