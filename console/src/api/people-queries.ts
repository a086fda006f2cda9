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

/** Open invitations, and recently accepted or expired ones. */
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

/** The caller's sessions. */
export function browserSessionsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.browserSessions,
    queryFn: ({ signal }) => take(api.GET('/api/account/sessions', { signal })),
  });
}
