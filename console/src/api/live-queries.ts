import { queryOptions } from '@tanstack/react-query';
import { ApiError } from '../errors/api-error.ts';
import { type Api, take } from './client.ts';
import { cacheKeys } from './queries.ts';
import { requestQuery } from './request-queries.ts';

const LOOK_MS = 1_000;
/** As many as fit beside the lanes. */
const FINISHED_ROWS = 14;

/** Without a time in the response. */
const BACK_OFF_MS = 30_000;
const TOO_MANY = 429;

/** Polling continues after server errors, later after 429, and stops after any other rejection. */
export function pollEvery(intervalMs: number) {
  return ({ state: { error } }: { readonly state: { readonly error: Error | null } }) => {
    if (!(error instanceof ApiError) || error.status >= 500) return intervalMs;
    if (error.status !== TOO_MANY) return false;
    return Math.max(intervalMs, error.response.retryAfterMs ?? BACK_OFF_MS);
  };
}

/** Requests in flight, polled every second while the page is visible. */
export function liveQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.live,
    queryFn: ({ signal }) => take(api.GET('/api/relay/live', { signal })),
    retry: false,
    staleTime: 0,
    gcTime: 0,
    refetchInterval: pollEvery(LOOK_MS),
  });
}

/** The requests of one key that wait or are in flight, polled while its first request is awaited. */
export function liveOfKeyQuery(api: Api, keyId: string) {
  return queryOptions({
    queryKey: [...cacheKeys.live, keyId],
    queryFn: ({ signal }) =>
      take(api.GET('/api/relay/live', { params: { query: { api_key_id: keyId } }, signal })),
    retry: false,
    staleTime: 0,
    gcTime: 0,
    refetchInterval: pollEvery(LOOK_MS),
  });
}

/** The latest request with a key; undefined before the first. */
export async function readLatestOfKey(api: Api, keyId: string) {
  const query = { api_key_id: keyId, limit: 1 };
  const { data } = await take(api.GET('/api/relay/requests', { params: { query } }));
  return data[0];
}

/** The latest finished requests, shown when the tail starts. */
export async function readFinished(api: Api) {
  const query = { limit: FINISHED_ROWS };
  return (await take(api.GET('/api/relay/requests', { params: { query } }))).data;
}

const FALLBACKS_MS = 5 * 60_000;
const FALLBACK_ROWS = 8;

/** The latest requests of the last 5 minutes that fell back, with their attempts. Each is read once, since it does not change. */
export function fallbacksQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.fallbacks,
    queryFn: async ({ client, signal }) => {
      const from = new Date(Date.now() - FALLBACKS_MS).toISOString();
      const query = { fell_back: true, from, limit: FALLBACK_ROWS };
      const page = await take(api.GET('/api/relay/requests', { params: { query }, signal }));
      const read = await Promise.allSettled(
        page.data.map(({ request_id: id }) => client.fetchQuery(requestQuery(api, id))),
      );
      return {
        details: read.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])),
        // The log has no index of fallbacks, so that under much traffic a page ends before the 5 minutes do.
        isWhole: page.next_cursor === null,
      };
    },
    retry: false,
  });
}
