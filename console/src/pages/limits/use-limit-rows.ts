import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { limitPoliciesQuery, userBudgetsQuery } from '../../api/limit-queries.ts';
import { apiKeyBudgetsQuery, capabilitiesQuery, limitUsageQuery } from '../../api/queries.ts';
import { teamBudgetsQuery } from '../../api/team-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { ApiError } from '../../errors/api-error.ts';
import { useAccess } from '../../session/use-access.ts';
import { type LimitKind, limitRows } from './limit-row.ts';
import { listedBefore, outlookOf, type Standing } from './outlook.ts';

const LIVE_MS = 2_500;
const MANY_ROWS = 1_000;
const LIVE_MANY_MS = 30_000;

/** All limits that the caller can read, with live state, in the order of the list. */
export function useLimitRows() {
  const api = useApi();
  const { can } = useAccess();
  const capabilities = useQuery(capabilitiesQuery(api));
  const hasResource = can('listLimitPolicies');
  const resource = useQuery({ ...limitPoliciesQuery(api), enabled: hasResource });
  const user = useQuery(userBudgetsQuery(api));
  const apiKey = useQuery(apiKeyBudgetsQuery(api));
  const readsTeams = can('listTeamLimitPolicies');
  const team = useQuery({ ...teamBudgetsQuery(api), enabled: readsTeams });
  const teamRows = readsTeams ? team.data : NONE;
  const usage = useQuery({
    ...limitUsageQuery(api),
    refetchInterval: ({ state }) => ((state.data?.length ?? 0) > MANY_ROWS ? LIVE_MANY_MS : LIVE_MS),
  });
  // The list may only be called empty once the capabilities are loaded.
  const resourceRows = hasResource ? resource.data : capabilities.data === undefined ? undefined : NONE;
  const nowMs = usage.dataUpdatedAt;
  const standings = useMemo(() => {
    // Waits for the live state, because it changes the order.
    if (resourceRows === undefined || user.data === undefined) return undefined;
    if (apiKey.data === undefined || teamRows === undefined) return undefined;
    if (usage.data === undefined && usage.error === null) return undefined;
    const sources = {
      resource: resourceRows,
      user: user.data,
      apiKey: apiKey.data,
      team: teamRows,
      usage: usage.data ?? NONE,
      unlisted: new Set<LimitKind>([
        ...(hasResource ? [] : ['resource' as const]),
        ...(readsTeams ? [] : ['team' as const]),
      ]),
    };
    return limitRows(sources)
      .map((row): Standing => ({ row, outlook: outlookOf(row, nowMs) }))
      .sort(listedBefore);
  }, [
    resourceRows,
    user.data,
    apiKey.data,
    teamRows,
    usage.data,
    usage.error,
    nowMs,
    hasResource,
    readsTeams,
  ]);
  const all = [resource, user, apiKey, team, usage];
  return {
    standings,
    list: {
      data: standings,
      error: resource.error ?? user.error ?? apiKey.error ?? team.error ?? forbidden(usage.error),
      refetch: () => Promise.all(all.filter(({ error }) => error !== null).map((query) => query.refetch())),
    },
    /** The live state failed to load; limits are shown without it. */
    usageError: usage.error,
  };
}

const NONE: never[] = [];

function forbidden(error: Error | null): Error | null {
  return error instanceof ApiError && error.status === 403 ? error : null;
}

/** The kinds of limits that exist here and that the caller can write. */
export function useWritableKinds(): readonly LimitKind[] {
  const { data } = useQuery(capabilitiesQuery(useApi()));
  const { can } = useAccess();
  return useMemo(() => {
    const kinds: LimitKind[] = [];
    if (can('createLimitPolicy')) kinds.push('resource');
    if (data?.accounts === true && can('upsertUserLimitPolicy')) kinds.push('user');
    if (can('upsertApiKeyLimitPolicy')) kinds.push('api_key');
    if (can('upsertTeamLimitPolicy')) kinds.push('team');
    return kinds;
  }, [data, can]);
}
