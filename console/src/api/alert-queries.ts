import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { type Api, take } from './client.ts';
import { collectPages } from './collect-pages.ts';
import { cacheKeys } from './queries.ts';

const PAGE_ROWS = 50;
const REFRESH_MS = 15_000;

/** Alerts, newest first, page by page. */
export function alertsQuery(api: Api) {
  return infiniteQueryOptions({
    queryKey: [...cacheKeys.alerts, 'pages'],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: PAGE_ROWS, ...(pageParam === null ? {} : { cursor: pageParam }) };
      return take(api.GET('/api/relay/alerts', { params: { query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: cursor }) => cursor,
    refetchInterval: REFRESH_MS,
  });
}

/** The newest alerts, for limits whose windows are still open. */
export function newestAlertsQuery(api: Api) {
  return queryOptions({
    queryKey: [...cacheKeys.alerts, 'newest'],
    queryFn: async ({ signal }) =>
      (await take(api.GET('/api/relay/alerts', { params: { query: { limit: PAGE_ROWS } }, signal }))).data,
    refetchInterval: REFRESH_MS,
  });
}

export function alertDestinationsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.alertDestinations,
    queryFn: ({ signal }) =>
      collectPages((query) => api.GET('/api/relay/alert-destinations', { params: { query }, signal })),
  });
}
