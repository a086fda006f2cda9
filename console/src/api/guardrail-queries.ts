import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { TimeRange } from '../time-range/time-range.ts';
import { type Api, take } from './client.ts';
import { collectPages } from './collect-pages.ts';
import { cacheKeys } from './queries.ts';

export function guardrailsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.guardrails,
    queryFn: ({ signal }) =>
      collectPages((query) => api.GET('/api/relay/guardrails', { params: { query }, signal })),
  });
}

/** One guardrail with its bindings. */
export function guardrailQuery(api: Api, guardrailId: string) {
  return queryOptions({
    queryKey: [...cacheKeys.guardrail, guardrailId],
    queryFn: ({ signal }) =>
      take(
        api.GET('/api/relay/guardrails/{guardrail_id}', {
          params: { path: { guardrail_id: guardrailId } },
          signal,
        }),
      ),
  });
}

export function guardrailPresetsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.guardrailPresets,
    queryFn: ({ signal }) =>
      collectPages((query) => api.GET('/api/relay/guardrail-presets', { params: { query }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The verdicts of each guardrail in the time range, by guardrail ID. */
export function guardrailTotalsQuery(api: Api, { from, to, bucket }: TimeRange) {
  return queryOptions({
    queryKey: [...cacheKeys.guardrailStats, 'all', from, to],
    queryFn: async ({ signal }) => {
      const params = { query: { from, to, bucket } };
      const { guardrails } = await take(api.GET('/api/relay/guardrail-stats', { params, signal }));
      return new Map(guardrails.map((each) => [each.guardrail_id, each]));
    },
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });
}

/** `boundTo` predicts the effect of these bindings; without it, the present bindings apply. */
export function guardrailStatsQuery(api: Api, guardrailId: string, range: TimeRange, boundTo?: string) {
  const { from, to, bucket } = range;
  return queryOptions({
    queryKey: [...cacheKeys.guardrailStats, guardrailId, from, to, boundTo ?? null],
    queryFn: ({ signal }) =>
      take(
        api.GET('/api/relay/guardrails/{guardrail_id}/stats', {
          params: {
            path: { guardrail_id: guardrailId },
            query: { from, to, bucket, ...(boundTo === undefined ? {} : { bound_to: boundTo }) },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });
}
