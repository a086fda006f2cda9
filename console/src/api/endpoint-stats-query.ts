import { queryOptions } from '@tanstack/react-query';
import { type Api, take } from './client.ts';
import { cacheKeys } from './queries.ts';

const REFRESH_MS = 60_000;

/** Traffic, latency, errors, spend and tightest limit of every endpoint in the last 24 hours. */
export function endpointStatsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.endpointStats,
    queryFn: ({ signal }) => take(api.GET('/api/relay/stats/endpoints', { signal })),
    staleTime: REFRESH_MS / 2,
    refetchInterval: REFRESH_MS,
  });
}
