import type { LimitUsage } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { apiKeyBudgetsQuery, limitUsageQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';

/** The tightest limit of each key. */
export function useTightestBudgets(): ReadonlyMap<string, LimitUsage> {
  const api = useApi();
  const { can } = useAccess();
  const policies = useQuery(apiKeyBudgetsQuery(api));
  const usage = useQuery({ ...limitUsageQuery(api), enabled: can('listLimitUsage') });
  return useMemo(() => {
    const keyOf = new Map(policies.data?.map((policy) => [policy.limit_uuid, policy.api_key_uuid]));
    const tightest = new Map<string, LimitUsage>();
    for (const each of usage.data ?? []) {
      const key = keyOf.get(each.policy_id);
      if (key === undefined) continue;
      const before = tightest.get(key);
      if (before === undefined || fullness(each) > fullness(before)) tightest.set(key, each);
    }
    return tightest;
  }, [policies.data, usage.data]);
}

function fullness({ used, reserved, limit }: LimitUsage): number {
  return limit === 0 ? Number.POSITIVE_INFINITY : (used + reserved) / limit;
}
