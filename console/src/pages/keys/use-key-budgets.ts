import type { LimitUsage } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { apiKeyBudgetsQuery, keyLimitUsageQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';

/** The limit to show for each key of a member, or of all members: its tightest budget, else its tightest limit. */
export function useKeyBudgets(ofAll: boolean, selfId: string | undefined): ReadonlyMap<string, LimitUsage> {
  const api = useApi();
  const enabled = useAccess().can('listLimitUsage') && selfId !== undefined;
  const policies = useQuery(apiKeyBudgetsQuery(api));
  const usage = useQuery({ ...keyLimitUsageQuery(api, ofAll ? undefined : selfId), enabled });
  return useMemo(() => {
    const keyOf = new Map(policies.data?.map((policy) => [policy.limit_uuid, policy.api_key_uuid]));
    const shown = new Map<string, LimitUsage>();
    for (const each of usage.data ?? []) {
      const key = keyOf.get(each.policy_id);
      if (key === undefined) continue;
      const before = shown.get(key);
      if (before === undefined || isTighter(each, before)) shown.set(key, each);
    }
    return shown;
  }, [policies.data, usage.data]);
}

function isTighter(one: LimitUsage, other: LimitUsage): boolean {
  const [isBudget, wasBudget] = [one.metric === 'spend', other.metric === 'spend'];
  return isBudget === wasBudget ? fullness(one) > fullness(other) : isBudget;
}

export function fullness({ used, reserved, limit }: LimitUsage): number {
  return limit === 0 ? Number.POSITIVE_INFINITY : (used + reserved) / limit;
}
