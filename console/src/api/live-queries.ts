import { queryOptions } from '@tanstack/react-query';
import { ApiError } from '../errors/api-error.ts';
import { type Api, take } from './client.ts';
import { cacheKeys } from './queries.ts';

const LOOK_MS = 1_000;
/** As many as fit beside the lanes. */
const FINISHED_ROWS = 14;

/** Polling continues after server errors and stops after a rejection. */
export function pollEvery(intervalMs: number) {
  return ({ state: { error } }: { readonly state: { readonly error: Error | null } }) =>
    error instanceof ApiError && error.status < 500 ? false : intervalMs;
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
