import { queryOptions } from '@tanstack/react-query';
import { type Api, take } from './client.ts';
import { collectPages } from './collect-pages.ts';
import { cacheKeys } from './queries.ts';

export function teamsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.teams,
    queryFn: ({ signal }) =>
      collectPages((query) => api.GET('/api/relay/teams', { params: { query }, signal })),
  });
}

export function teamBudgetsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.teamBudgets,
    queryFn: async ({ signal }) =>
      (await take(api.GET('/api/relay/team-limit-policies', { signal }))).policies,
  });
}

export interface ShowbackQuestion {
  readonly group_by: string;
  readonly from: string;
  readonly to: string;
}

export function showbackQuery(api: Api, question: ShowbackQuestion) {
  return queryOptions({
    queryKey: [...cacheKeys.showback, question],
    queryFn: ({ signal }) =>
      take(api.GET('/api/relay/stats/showback', { params: { query: question }, signal })),
    placeholderData: (before) => before,
  });
}
