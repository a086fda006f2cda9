import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { RequestFilters } from '../address/request-search.ts';
import { ApiError } from '../errors/api-error.ts';
import { rangeOf, type TimeRange, type TimeRangeSearch } from '../time-range/time-range.ts';
import { type Api, take } from './client.ts';
import { cacheKeys } from './queries.ts';

/** The server reads a page in about 10 ms, well before the user scrolls to its end. */
const PAGE_ROWS = 200;

const RECORDED_MS = 1_500;
const RECORDED_TRIES = 4;

/** The requests that the page shows. A relative range starts before the time of opening and has no end. */
export interface RequestsShown {
  readonly filters: RequestFilters;
  readonly range: TimeRangeSearch;
  /** When the list was opened or reloaded. A fixed start keeps its pages consistent. */
  readonly openedAtMs: number;
}

/** The filters by the API's names. */
export function filterQueryOf(filters: RequestFilters): Readonly<Record<string, string>> {
  const { state, operation, model, lane, endpoint, provider, key, user, error } = filters;
  const { guardrail, verdict, waited, fell_back } = filters;
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
    waited,
    fell_back,
    guardrail_id: guardrail,
    guardrail_verdict: verdict,
  };
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}

export function requestQueryOf({
  filters,
  range,
  openedAtMs,
}: RequestsShown): Readonly<Record<string, string>> {
  const { name, from, to } = rangeOf(range, openedAtMs);
  return { ...filterQueryOf(filters), from, ...(name === null ? { to } : {}) };
}

/**
 * Requests, newest first, page by page. A reload opens a new list; pages are never refetched in the background.
 */
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
    // A finished request does not change.
    staleTime: Number.POSITIVE_INFINITY,
    // A request that just finished may not be in the log yet.
    refetchInterval: ({ state: { error, errorUpdateCount } }) =>
      error instanceof ApiError && error.status === 404 && errorUpdateCount < RECORDED_TRIES
        ? RECORDED_MS
        : false,
  });
}

/** Filters that the statistics do not support. */
export const UNCOUNTED_FILTERS = [
  'operation',
  'model',
  'error',
  'guardrail',
  'verdict',
  'waited',
  'fell_back',
] as const;

/** Requests by final state over time, without the filters that the statistics do not support. */
export function requestHistogramQuery(api: Api, range: TimeRange, filters: RequestFilters) {
  const counted = { ...filters };
  for (const name of ['state', ...UNCOUNTED_FILTERS] as const) delete counted[name];
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

/** The number of all requests, to tell "nothing yet" from "nothing matches". */
export function requestCountQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.requestCount,
    queryFn: async ({ signal }) => (await take(api.GET('/api/relay/stats/summary', { signal }))).requests,
  });
}
