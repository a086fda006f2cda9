import type { Timeseries, TimeseriesQuery } from '@relay/contract';
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

/** The number of resources and of all requests. */
export function statsSummaryQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.statsSummary,
    queryFn: ({ signal }) => take(api.GET('/api/relay/stats/summary', { signal })),
  });
}

/** A metric of one endpoint, lane or key over the last 24 hours. */
export interface DayFigure {
  readonly total: number | null;
  /** For each hour, oldest first. */
  readonly hours: readonly number[];
}

/** Without a range: the latest 24 hours, as in the statistics of all keys. */
async function readSeries(
  api: Api,
  signal: AbortSignal,
  question: Omit<TimeseriesQuery, 'to'>,
): Promise<Timeseries['series']> {
  return (await take(api.GET('/api/relay/stats/timeseries', { params: { query: question }, signal }))).series;
}

/** The requests of a lane that one endpoint got. */
export interface EndpointTraffic {
  /** Null for all endpoints after the first 50. */
  readonly endpointId: string | null;
  readonly name: string;
  readonly requests: number;
}

const WEEK_MS = 7 * 86_400_000;

/** The requests of a lane in the last 7 days by endpoint, also by those that left the lane. Requests that reached none are left out. */
export function laneTrafficQuery(api: Api, laneId: string) {
  return queryOptions({
    queryKey: [...cacheKeys.laneTraffic, laneId],
    queryFn: async ({ signal }): Promise<readonly EndpointTraffic[]> => {
      const from = new Date(Date.now() - WEEK_MS).toISOString();
      const question = { metric: 'requests', group_by: 'endpoint', lane_id: laneId, from } as const;
      const series = await readSeries(api, signal, question);
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
  /** Null if none of its requests has a price. */
  readonly costMicros: number | null;
  readonly failed: number;
  /** Completed after waiting for capacity. */
  readonly waited: number;
  /** Null without requests. */
  readonly waitMsP95: number | null;
}

/** Of one key, so that it can be read often. */
export function keyDayQuery(api: Api, keyId: string) {
  return queryOptions({
    queryKey: [...cacheKeys.keyDay, keyId],
    queryFn: async ({ signal }): Promise<KeyDay> => {
      const read = (question: Pick<TimeseriesQuery, 'metric' | 'group_by'>) =>
        readSeries(api, signal, { ...question, api_key_id: keyId });
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
  const totalOf = (service: string) => services.find(({ key }) => key === service)?.total ?? 0;
  const requests = services.reduce((sum, { total }) => sum + (total ?? 0), 0);
  return {
    requests,
    costMicros: spend === undefined ? 0 : spend.total,
    failed: totalOf('failed'),
    waited: totalOf('waited'),
    waitMsP95: waits?.total ?? null,
  };
}

/** The sum over some rows; null if that of one of them is unknown. */
export function sumOf(figures: readonly (DayFigure | undefined)[]): number | null {
  let sum = 0;
  for (const figure of figures) {
    if (figure === undefined || figure.total === null) return null;
    sum += figure.total;
  }
  return sum;
}
