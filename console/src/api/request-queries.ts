import type { RequestLogQuery } from '@relay/contract';
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { RequestFilters } from '../address/request-search.ts';
import { ApiError } from '../errors/api-error.ts';
import { rangeOf, type TimeRange, type TimeRangeSearch } from '../time-range/time-range.ts';
import { type Api, take } from './client.ts';
import { cacheKeys } from './queries.ts';

/** A page takes the server some ten milliseconds and is read well before its end comes in sight. */
const PAGE_ROWS = 200;

const RECORDED_MS = 1_500;
const RECORDED_TRIES = 4;

type QueryFilters = Omit<RequestLogQuery, 'limit' | 'cursor'>;

/** Which requests the page shows. A length ends when it was opened only in its beginning: what comes later belongs to it. */
export interface RequestsShown {
  readonly filters: RequestFilters;
  readonly range: TimeRangeSearch;
  /** When the list was opened or read again. Within it pages continue each other, however long somebody reads. */
  readonly openedAtMs: number;
}

/** The filters as the interface names them. */
export function filterQueryOf(filters: RequestFilters): Readonly<Record<string, string>> {
  const { state, operation, model, lane, endpoint, provider, key, user, error } = filters;
  const given = {
    state,
    operation,
    model,
    lane_id: lane,
    endpoint_id: endpoint,
    provider_id: provider,
    api_key_id: key,
    user_uuid: user,
    error_code: error,
  };
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** The filters and the time. */
export function requestQueryOf({ filters, range, openedAtMs }: RequestsShown): QueryFilters {
  const { name, from, to } = rangeOf(range, openedAtMs);
  return { ...filterQueryOf(filters), from, ...(name === null ? { to } : {}) };
}

/** Requests, newest first, a page at a time. It is read again by opening it anew, never page by page behind one's back. */
export function requestsQuery(api: Api, shown: RequestsShown) {
  return infiniteQueryOptions({
    queryKey: [...cacheKeys.requests, shown],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        ...requestQueryOf(shown),
        limit: PAGE_ROWS,
        ...(pageParam === null ? {} : { cursor: pageParam }),
      };
      return take(api.GET('/api/relay/requests', { params: { query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: cursor }) => cursor,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
}

export function requestQuery(api: Api, requestId: string) {
  return queryOptions({
    queryKey: [...cacheKeys.request, requestId],
    queryFn: ({ signal }) =>
      take(
        api.GET('/api/relay/requests/{request_id}', { params: { path: { request_id: requestId } }, signal }),
      ),
    // What has ended does not change.
    staleTime: Number.POSITIVE_INFINITY,
    // One that was answered a moment ago is on its way into the log.
    refetchInterval: ({ state: { error, errorUpdateCount } }) =>
      error instanceof ApiError && error.status === 404 && errorUpdateCount < RECORDED_TRIES
        ? RECORDED_MS
        : false,
  });
}

/** How many requests ended how, over time. The sums know of no model, operation or error code. */
export function requestHistogramQuery(api: Api, range: TimeRange, filters: RequestFilters) {
  const { state: _state, operation: _operation, model: _model, error: _error, ...counted } = filters;
  const { from, to, bucket } = range;
  const query = {
    metric: 'requests',
    group_by: 'state',
    from,
    to,
    bucket,
    ...filterQueryOf(counted),
  } as const;
  return queryOptions({
    queryKey: [...cacheKeys.requestHistogram, query],
    queryFn: ({ signal }) => take(api.GET('/api/relay/stats/timeseries', { params: { query }, signal })),
    placeholderData: keepPreviousData,
  });
}

/** How many requests there ever were: "nothing yet" is not "nothing matches". */
export function requestCountQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.requestCount,
    queryFn: async ({ signal }) => (await take(api.GET('/api/relay/stats/summary', { signal }))).requests,
  });
}
