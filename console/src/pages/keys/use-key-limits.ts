import type { LimitUsage } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { apiKeyBudgetsQuery, keyLimitUsageQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';

/** By key ID, the one to show first: the tightest budget, and without one the tightest limit. */
export type KeyLimits = ReadonlyMap<string, readonly LimitUsage[]>;

/** The limits in force of each key of a member, or of all members; undefined until they are read. */
export function useKeyLimits(ofAll: boolean, selfId: string | undefined): KeyLimits | undefined {
  const api = useApi();
  const enabled = useAccess().can('listLimitUsage') && selfId !== undefined;
  const policies = useQuery(apiKeyBudgetsQuery(api));
  const usage = useQuery({ ...keyLimitUsageQuery(api, ofAll ? undefined : selfId), enabled });
  return useMemo(() => {
    if (policies.data === undefined || usage.data === undefined) return undefined;
    const keyOf = new Map(policies.data.map((policy) => [policy.limit_uuid, policy.api_key_uuid]));
    const found = new Map<string, LimitUsage[]>();
    for (const each of usage.data) {
      const key = keyOf.get(each.policy_id);
      if (key === undefined) continue;
      const others = found.get(key);
      if (others === undefined) found.set(key, [each]);
      else others.push(each);
    }
    for (const limits of found.values()) limits.sort(byTightness);
    return found;
  }, [policies.data, usage.data]);
}

export function byTightness(one: LimitUsage, other: LimitUsage): number {
  const [isBudget, wasBudget] = [one.metric === 'spend', other.metric === 'spend'];
  if (isBudget !== wasBudget) return isBudget ? -1 : 1;
  const [full, otherFull] = [fullness(one), fullness(other)];
  return full === otherFull ? 0 : otherFull - full;
}

export function fullness({ used, reserved, limit }: LimitUsage): number {
  return limit === 0 ? Number.POSITIVE_INFINITY : (used + reserved) / limit;
}
