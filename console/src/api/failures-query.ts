import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { TimeRange } from '../time-range/time-range.ts';
import { type Api, take } from './client.ts';
import { cacheKeys } from './queries.ts';

/** The failed requests of a time range by cause. With the bucket of the range, they add up to what charts show. */
export function failuresQuery(api: Api, { from, to, bucket }: Omit<TimeRange, 'name'>) {
  const query = { from, to, bucket };
  return queryOptions({
    queryKey: [...cacheKeys.failures, query],
    queryFn: ({ signal }) => take(api.GET('/api/relay/stats/failures', { params: { query }, signal })),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
}
