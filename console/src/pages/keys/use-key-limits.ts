import type { ApiKey, LimitUsage, Member, Team } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { ownedLimitUsageQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { rejectsWhenFull } from '../../parts/limit-metrics.ts';
import { useAccess } from '../../session/use-access.ts';

/** The limits that count a key's requests: its own, its owner's and its teams', the one to show first. */
export type KeyLimits = (key: ApiKey) => readonly LimitUsage[];

/** The members and teams that decide which team a key belongs to. A caller without access to teams sees only their own. */
interface Placed {
  readonly members: readonly Pick<Member, 'id' | 'team_id'>[] | undefined;
  readonly teams: readonly Pick<Team, 'id' | 'parent_id'>[] | undefined;
}

/** The limits in force of each key of a member, or of all members; undefined until they are read. */
export function useKeyLimits(
  ofAll: boolean,
  selfId: string | undefined,
  { members, teams }: Placed,
): KeyLimits | undefined {
  const api = useApi();
  const enabled = useAccess().can('listLimitUsage') && selfId !== undefined;
  const userId = ofAll ? undefined : selfId;
  const { data: ofKeys } = useQuery({ ...ownedLimitUsageQuery(api, 'api_key', userId), enabled });
  const { data: ofUsers } = useQuery({ ...ownedLimitUsageQuery(api, 'user', userId), enabled });
  const { data: ofTeams } = useQuery({ ...ownedLimitUsageQuery(api, 'team', undefined), enabled });
  return useMemo(() => {
    if (ofKeys === undefined || ofUsers === undefined || ofTeams === undefined) return undefined;
    return limitsByKey([...ofKeys, ...ofUsers, ...ofTeams], { members, teams });
  }, [ofKeys, ofUsers, ofTeams, members, teams]);
}

export function limitsByKey(usages: readonly LimitUsage[], { members, teams }: Placed): KeyLimits {
  const bySubject = Map.groupBy(usages, ({ subject_id: id }) => id ?? '');
  const of = (id: string | null | undefined) => (id == null ? [] : (bySubject.get(id) ?? []));
  const teamOf = new Map(members?.map(({ id, team_id: team }) => [id, team]));
  const parentOf = new Map(teams?.map(({ id, parent_id: parent }) => [id, parent]));
  return ({ id, user_uuid: owner, team_id: own }) => {
    const team = own ?? teamOf.get(owner);
    const all = [...of(id), ...of(owner), ...of(team), ...of(parentOf.get(team ?? ''))];
    return all.sort(
      (a, b) => Number(isBlocking(b)) - Number(isBlocking(a)) || ownFirst(a, b) || byTightness(a, b),
    );
  };
}

/** Requests are rejected until it resets. */
function isBlocking(usage: LimitUsage): boolean {
  return rejectsWhenFull(usage) && usage.remaining === 0;
}

function ownFirst({ policy_kind: a }: LimitUsage, { policy_kind: b }: LimitUsage): number {
  return Number(b === 'api_key') - Number(a === 'api_key');
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
