import type { TimeseriesQuery } from '@relay/contract';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { type Api, take } from './client.ts';
import { cacheKeys } from './queries.ts';

/** Until the next answer is there, the last one stays: it names its metric and its buckets itself. */
export function timeseriesQuery(api: Api, question: TimeseriesQuery) {
  return queryOptions({
    queryKey: [...cacheKeys.timeseries, question],
    queryFn: ({ signal }) =>
      take(api.GET('/api/relay/stats/timeseries', { params: { query: question }, signal })),
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  });
}

/** How much there is of everything, and how many requests there ever were. */
export function statsSummaryQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.statsSummary,
    queryFn: ({ signal }) => take(api.GET('/api/relay/stats/summary', { signal })),
  });
}
