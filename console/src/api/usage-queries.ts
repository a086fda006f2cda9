import type { TimeseriesQuery } from '@relay/contract';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { type Api, take } from './client.ts';
import { cacheKeys } from './queries.ts';

/** Keeps the previous response while loading; a response names its own metric and bucket. */
export function timeseriesQuery(api: Api, question: TimeseriesQuery) {
  return queryOptions({
    queryKey: [...cacheKeys.timeseries, question],
    queryFn: ({ signal }) =>
      take(api.GET('/api/relay/stats/timeseries', { params: { query: question }, signal })),
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  });
}

/** The number of resources and of all requests. */
export function statsSummaryQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.statsSummary,
    queryFn: ({ signal }) => take(api.GET('/api/relay/stats/summary', { signal })),
  });
}
