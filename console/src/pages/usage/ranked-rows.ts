import type { Timeseries } from '@relay/contract';
import { seriesKey, seriesLabel } from '../../parts/usage-series.ts';

/** One group in the ranking. */
export interface RankedRow {
  readonly id: string;
  /** The filter value of the group; null for combined groups. */
  readonly key: string | null;
  readonly label: string;
  readonly total: number | null;
  /** The share of the total; null where values do not add up. */
  readonly share: number | null;
  readonly peak: { readonly at: string; readonly value: number } | null;
}

/** Largest first, without empty groups. */
export function rankedRows(
  { series, group_by: group }: Timeseries,
  adds: boolean,
  keyless?: string,
): RankedRow[] {
  const all = series.reduce((sum, { total }) => sum + (total ?? 0), 0);
  return series
    .filter(({ total, unpriced_requests: unpriced = 0 }) =>
      adds ? (total ?? 0) > 0 || unpriced > 0 : total !== null,
    )
    .map((each) => ({
      id: seriesKey(each),
      key: each.key,
      label: seriesLabel(each, group, keyless),
      total: each.total,
      share: adds && all > 0 ? (each.total ?? 0) / all : null,
      peak: peakOf(each.points),
    }))
    .sort((a, b) => (b.total ?? 0) - (a.total ?? 0));
}

type Points = Timeseries['series'][number]['points'];

function peakOf(points: Points): RankedRow['peak'] {
  let peak: RankedRow['peak'] = null;
  for (const { at, value } of points) if (value !== null && value > (peak?.value ?? 0)) peak = { at, value };
  return peak;
}

/** The sum of all series by time, for the totals above the chart; null where values do not add up, and its total where nothing has a price. */
export function wholeOf({ series }: Timeseries, adds: boolean) {
  const [only] = series;
  if (!adds && series.length > 1) return null;
  const sums = new Map<string, number | null>();
  for (const { points } of series)
    for (const { at, value } of points)
      sums.set(at, value === null ? (sums.get(at) ?? null) : (sums.get(at) ?? 0) + value);
  const points = [...sums].map(([at, value]) => ({ at, value }));
  const unpriced = series.reduce((sum, each) => sum + (each.unpriced_requests ?? 0), 0);
  const sum = points.reduce((all, { value }) => all + (value ?? 0), 0);
  const total = !adds ? (only?.total ?? null) : sum === 0 && unpriced > 0 ? null : sum;
  return {
    total,
    mean: adds && points.length > 0 && total !== null ? total / points.length : null,
    peak: peakOf(points),
    unpriced,
  };
}
