import type { Spend, Timeseries, TimeseriesQuery } from '@relay/contract';
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

/** The spend of the day and of the month, with its forecast. */
export function spendQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.spend,
    queryFn: ({ signal }) => take(api.GET('/api/relay/stats/spend', { signal })),
    staleTime: 30_000,
  });
}

/** Whether there is a spend to show. Requests without a price cost something that is unknown. */
export function isCostKnown(spend: Pick<Spend['today'], 'cost_micros' | 'unpriced_requests'>): boolean {
  return spend.cost_micros > 0 || spend.unpriced_requests === 0;
}

/** The number of resources and of all requests. */
export function statsSummaryQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.statsSummary,
    queryFn: ({ signal }) => take(api.GET('/api/relay/stats/summary', { signal })),
  });
}

const DAY_MS = 86_400_000;

/** A metric of one lane or key over the last 24 hours. */
export interface DayFigure {
  readonly total: number | null;
  /** For each hour, oldest first. */
  readonly hours: readonly number[];
}

/** What the last 24 hours were for each lane or key. */
export interface DayFigures {
  /** By ID; requests without one are under the empty string. */
  readonly of: ReadonlyMap<string, DayFigure>;
  /** The sum over all series. */
  readonly all: number;
  /** The server sums what is beyond the first 50; of those, the figure is unknown. */
  readonly isWhole: boolean;
}

export function dayFiguresQuery(api: Api, group: 'lane' | 'api_key', metric: TimeseriesQuery['metric']) {
  return queryOptions({
    queryKey: [...cacheKeys.dayFigures, group, metric],
    queryFn: async ({ signal }): Promise<DayFigures> =>
      dayFiguresOf(await readDays(api, signal, { metric, group_by: group })),
    staleTime: 60_000,
  });
}

async function readDays(
  api: Api,
  signal: AbortSignal,
  question: Omit<TimeseriesQuery, 'bucket' | 'from'>,
  days = 1,
): Promise<Timeseries['series']> {
  const from = new Date(Date.now() - days * DAY_MS).toISOString();
  const query = { ...question, bucket: 'hour', from } as const;
  return (await take(api.GET('/api/relay/stats/timeseries', { params: { query }, signal }))).series;
}

/** The requests of a lane that one endpoint got. */
export interface EndpointTraffic {
  /** Null for all endpoints after the first 50. */
  readonly endpointId: string | null;
  readonly name: string;
  readonly requests: number;
}

const WEEK_DAYS = 7;

/** The requests of a lane in the last 7 days by endpoint, also by those that left the lane. Requests that reached none are left out. */
export function laneTrafficQuery(api: Api, laneId: string) {
  return queryOptions({
    queryKey: [...cacheKeys.laneTraffic, laneId],
    queryFn: async ({ signal }): Promise<readonly EndpointTraffic[]> => {
      const question = { metric: 'requests', group_by: 'endpoint', lane_id: laneId } as const;
      const series = await readDays(api, signal, question, WEEK_DAYS);
      return series
        .filter(({ kind }) => kind !== 'none')
        .map(({ key, label, total }) => ({ endpointId: key, name: label, requests: total ?? 0 }));
    },
    staleTime: 60_000,
  });
}

/** The last 24 hours of one key. */
export interface KeyDay {
  readonly requests: number;
  /** Null if unknown: an endpoint may have had no price. */
  readonly costMicros: number | null;
  readonly failed: number;
  /** Completed after waiting for capacity. */
  readonly waited: number;
  /** Null without requests. */
  readonly waitMsP95: number | null;
}

/** Of any key, also of one beyond the first 50 of `dayFiguresQuery`. */
export function keyDayQuery(api: Api, keyId: string) {
  return queryOptions({
    queryKey: [...cacheKeys.dayFigures, 'api_key', { keyId }],
    queryFn: async ({ signal }): Promise<KeyDay> => {
      const read = (question: Pick<TimeseriesQuery, 'metric' | 'group_by'>) =>
        readDays(api, signal, { ...question, api_key_id: keyId });
      const [services, spend, waits] = await Promise.all([
        read({ metric: 'requests', group_by: 'service' }),
        read({ metric: 'cost_micros' }),
        read({ metric: 'wait_ms_p95' }),
      ]);
      return keyDayOf(services, spend, waits);
    },
    staleTime: 15_000,
  });
}

export function keyDayOf(
  services: Timeseries['series'],
  [spend]: Timeseries['series'],
  [waits]: Timeseries['series'],
): KeyDay {
  const by = dayFiguresOf(services);
  const figure = (total: number | null | undefined): DayFigure => ({ total: total ?? 0, hours: [] });
  return {
    requests: by.all,
    costMicros: spentIn(figure(spend?.total), figure(by.all))?.total ?? null,
    failed: by.of.get('failed')?.total ?? 0,
    waited: by.of.get('waited')?.total ?? 0,
    waitMsP95: waits?.total ?? null,
  };
}

export function dayFiguresOf(series: Timeseries['series']): DayFigures {
  const known = series.filter(({ kind }) => kind === 'group' || kind === 'none');
  return {
    of: new Map(
      known.map(({ key, total, points }) => [
        key ?? '',
        { total, hours: points.map(({ value }) => value ?? 0) },
      ]),
    ),
    all: series.reduce((sum, { total }) => sum + (total ?? 0), 0),
    isWhole: series.every(({ kind }) => kind !== 'other'),
  };
}

/** The figure of one row; undefined while loading, and where it is unknown. */
export function figureIn(figures: DayFigures | undefined, id: string): DayFigure | undefined {
  if (figures === undefined) return undefined;
  return figures.of.get(id) ?? (figures.isWhole ? NONE : undefined);
}

const NONE: DayFigure = { total: 0, hours: [] };

/** The sum over some rows; null if that of one of them is unknown. */
export function sumOf(figures: readonly (DayFigure | undefined)[]): number | null {
  let sum = 0;
  for (const figure of figures) {
    if (figure === undefined || figure.total === null) return null;
    sum += figure.total;
  }
  return sum;
}

/** The spend of one row. None despite requests is unknown: an endpoint may have had no price. */
export function spentIn(
  spend: DayFigure | undefined,
  requests: DayFigure | undefined,
): DayFigure | undefined {
  return spend?.total === 0 && (requests?.total ?? 0) > 0 ? undefined : spend;
}
