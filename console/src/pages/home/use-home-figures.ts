import type { Timeseries, TimeseriesQuery } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { timeseriesQuery } from '../../api/usage-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { rangeBefore, type TimeRange } from '../../time-range/time-range.ts';
import { changeBetween, type Halves, halvesOf, lengthMsOf, sumOf } from './compare.ts';

type Series = Timeseries['series'][number];

/**
 * The queries of the home page. Sums are read over the range and the preceding one together; quantiles
 * need a query for each.
 */
export function useHomeFigures(range: TimeRange) {
  const { from, to, bucket } = range;
  const now = { from, to, bucket } as const;
  const before = rangeBefore(range);
  const both = { from: before.from, to, bucket } as const;
  const states = useFigures({ metric: 'requests', group_by: 'service', ...both });
  const models = useFigures({ metric: 'cost_micros', group_by: 'model', ...both });
  const keys = useFigures({ metric: 'cost_micros', group_by: 'api_key', ...both });
  const keyRequests = useFigures({ metric: 'requests', group_by: 'api_key', ...now });
  const tokens = useFigures({ metric: 'total_tokens', ...both });
  const p50 = useFigures({ metric: 'wait_ms_p50', ...now });
  const p95 = useFigures({ metric: 'wait_ms_p95', ...now });
  const p95Before = useFigures({ metric: 'wait_ms_p95', ...before, bucket });
  return { states, models, keys, keyRequests, tokens, p50, p95, p95Before };
}

/** More than the present month grows between two reads, less than any two ranges differ. */
const GROWTH_MS_MAX = 5 * 60_000;

/** Keeps the previous response while the range moves or grows with the clock, but not for another length. */
function useFigures(question: TimeseriesQuery) {
  return useQuery({
    ...timeseriesQuery(useApi(), question),
    placeholderData: (before, query) => {
      const asked = query?.queryKey.at(-1) as TimeseriesQuery | undefined;
      const isSame = asked !== undefined && Math.abs(lengthOf(asked) - lengthOf(question)) <= GROWTH_MS_MAX;
      return isSame ? before : undefined;
    },
  });
}

function lengthOf({ from = '', to = '' }: TimeseriesQuery): number {
  return Date.parse(to) - Date.parse(from);
}

/** The part of a response that belongs to the range. */
export function seriesNow({ series }: Timeseries, from: string): Series[] {
  return series.map((each) => {
    const { now } = halvesOf(each.points, from);
    const unpriced_requests = unpricedIn(now);
    return { ...each, points: [...now], total: sumOf(now), unpriced_requests };
  });
}

function unpricedIn(points: readonly Series['points'][number][]): number {
  return points.reduce((sum, { unpriced_requests: unpriced = 0 }) => sum + unpriced, 0);
}

export interface Figure {
  readonly value: number;
  /** Requests without a price, which a spend leaves out. */
  readonly unpriced: number;
  readonly before: number;
  /** The relative change; null without earlier values. */
  readonly change: number | null;
}

/** The sum of the series in the range and in the preceding one. */
export function figureOf(
  { series }: Timeseries,
  { from, to }: TimeRange,
  wanted: (series: Series) => boolean = () => true,
): Figure {
  const halves: readonly Halves<Series['points'][number]>[] = series
    .filter(wanted)
    .map(({ points }) => halvesOf(points, from));
  const value = halves.reduce((sum, { now }) => sum + sumOf(now), 0);
  const before = halves.reduce((sum, half) => sum + sumOf(half.before), 0);
  const unpriced = halves.reduce((sum, { now }) => sum + unpricedIn(now), 0);
  const [first] = halves;
  const startsAt = first?.now[0]?.at;
  if (first === undefined || startsAt === undefined) return { value, unpriced, before, change: null };
  const untilMs = Math.min(Date.parse(to), Date.now());
  const nowMs = lengthMsOf(first.now, new Date(untilMs).toISOString());
  const beforeMs = lengthMsOf(first.before, startsAt);
  return {
    value,
    unpriced,
    before,
    change: changeBetween({ sum: value, lengthMs: nowMs }, { sum: before, lengthMs: beforeMs }),
  };
}

/** The sums of the range, each as soon as it is loaded. */
export function useTotals(figures: ReturnType<typeof useHomeFigures>, range: TimeRange) {
  const [states, models, tokens] = [figures.states.data, figures.models.data, figures.tokens.data];
  return useMemo(
    () => ({
      requests: states && figureOf(states, range),
      immediate: states && figureOf(states, range, ({ key }) => key === 'immediate'),
      waited: states && figureOf(states, range, ({ key }) => key === 'waited'),
      failed: states && figureOf(states, range, ({ key }) => key === 'failed'),
      cancelled: states && figureOf(states, range, ({ key }) => key === 'cancelled'),
      spend: models && figureOf(models, range),
      tokens: tokens && figureOf(tokens, range),
    }),
    [states, models, tokens, range],
  );
}
