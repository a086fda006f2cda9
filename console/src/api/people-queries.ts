import { queryOptions } from '@tanstack/react-query';
import { type Api, take } from './client.ts';
import { collectPages } from './collect-pages.ts';
import { cacheKeys } from './queries.ts';

export function membersQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.members,
    queryFn: ({ signal }) =>
      collectPages((query) => api.GET('/api/org/members', { params: { query }, signal })),
  });
}

/** Those that are open, and for a while those that were accepted or have expired. */
export function invitationsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.invitations,
    queryFn: ({ signal }) =>
      collectPages((query) => api.GET('/api/org/invitations', { params: { query }, signal })),
  });
}

/** The keys of every member. */
export function orgApiKeysQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.orgApiKeys,
    queryFn: ({ signal }) =>
      collectPages((query) => api.GET('/api/org/api-keys', { params: { query }, signal })),
  });
}

/** Where the caller is signed in. */
export function browserSessionsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.browserSessions,
    queryFn: ({ signal }) => take(api.GET('/api/account/sessions', { signal })),
  });
}
