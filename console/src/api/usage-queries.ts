import type { TimeseriesQuery } from '@relay/contract';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { type Api, take } from './client.ts';
import { cacheKeys } from './queries.ts';

/** Keeps the previous response while loading; a response names its own metric and bucket. */
export function timeseriesQuery(api: Api, question: TimeseriesQuery) {
  return queryOptions({
    queryKey: [...cacheKeys.timeseries, question],
    queryFn: ({ signal }) =>
      take(api.GET('/api/relay/stats/timeseries', { params: { query: question }, signal })),
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  });
}

/** The number of resources and of all requests. */
export function statsSummaryQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.statsSummary,
    queryFn: ({ signal }) => take(api.GET('/api/relay/stats/summary', { signal })),
  });
}

const DAY_MS = 86_400_000;

/** A metric of one lane, endpoint or key over the last 24 hours. */
export interface DayFigure {
  readonly total: number | null;
  /** For each hour, oldest first. */
  readonly hours: readonly number[];
}

/** What the last 24 hours were for each lane, endpoint or key. */
export interface DayFigures {
  readonly of: ReadonlyMap<string, DayFigure>;
  /** The server sums what is beyond the first 50; of those, the figure is unknown. */
  readonly isWhole: boolean;
}

export function dayFiguresQuery(
  api: Api,
  group: 'lane' | 'endpoint' | 'api_key',
  metric: TimeseriesQuery['metric'],
) {
  return queryOptions({
    queryKey: [...cacheKeys.dayFigures, group, metric],
    queryFn: async ({ signal }): Promise<DayFigures> => {
      const from = new Date(Date.now() - DAY_MS).toISOString();
      const query = { metric, group_by: group, bucket: 'hour', from } as const;
      const { series } = await take(api.GET('/api/relay/stats/timeseries', { params: { query }, signal }));
      const named = series.flatMap(({ key, total, points }) =>
        key === null ? [] : [[key, { total, hours: points.map(({ value }) => value ?? 0) }] as const],
      );
      return { of: new Map(named), isWhole: series.every(({ kind }) => kind !== 'other') };
    },
    staleTime: 60_000,
  });
}
