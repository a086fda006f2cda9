import type { Timeseries } from '@relay/contract';
import { csvText } from '../../format/csv.ts';
import { seriesLabel } from '../../parts/usage-series.ts';

/** The chart as CSV: a row for each bucket, a column for each group, with exact numbers. */
export function csvOf(answer: Timeseries): string {
  const { metric, group_by: group, series } = answer;
  const names = series.map((each) => (each.kind === 'all' ? metric : seriesLabel(each, group)));
  const head = ['time', ...names];
  const moments = series[0]?.points.map(({ at }) => at) ?? [];
  const rows = moments.map((at, index) => [at, ...series.map(({ points }) => points[index]?.value ?? null)]);
  return csvText([head, ...rows]);
}

/** usage-cost-micros-by-model-2026-11-15.csv */
export function csvName({ metric, group_by: group, to }: Timeseries): string {
  const by = group === 'none' ? '' : `-by-${group}`;
  return `usage-${metric}${by}-${to.slice(0, 10)}.csv`.replaceAll('_', '-');
}
