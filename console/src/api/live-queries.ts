import { queryOptions } from '@tanstack/react-query';
import { ApiError } from '../errors/api-error.ts';
import { type Api, take } from './client.ts';
import { cacheKeys } from './queries.ts';

const LOOK_MS = 1_000;
/** As many as the list beside the lanes has room for. */
const FINISHED_ROWS = 14;

/**
 * What is under way, read again every second while somebody looks: a page in the background asks for nothing. A server that does not
 * answer is asked again; what was refused is not.
 */
export function liveQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.live,
    queryFn: ({ signal }) => take(api.GET('/api/relay/live', { signal })),
    retry: false,
    staleTime: 0,
    gcTime: 0,
    refetchInterval: ({ state: { error } }) =>
      error instanceof ApiError && error.status < 500 ? false : LOOK_MS,
  });
}

/** The requests that ended last, for the moment at which a tail begins. */
export async function readFinished(api: Api) {
  const query = { limit: FINISHED_ROWS };
  return (await take(api.GET('/api/relay/requests', { params: { query } }))).data;
}
