import type { Timeseries } from '@relay/contract';
import { csvText } from '../../format/csv.ts';
import { seriesLabel } from '../../parts/usage-series.ts';

/** The chart as CSV: a row for each bucket, a column for each group; for spend one of micro-USD, rounded, and one of exact dollars. */
export function csvOf(answer: Timeseries): string {
  const { metric, group_by: group, series } = answer;
  const isMoney = metric === 'cost_micros';
  const columns = series.flatMap((each) => {
    const name = each.kind === 'all' ? metric : seriesLabel(each, group);
    const values = { name, cells: each.points.map(({ value }) => value) };
    const usdName = each.kind === 'all' ? 'cost_usd' : `${name} (USD)`;
    const exact = { name: usdName, cells: each.points.map(({ value_usd }) => value_usd ?? null) };
    return isMoney ? [values, exact] : [values];
  });
  const head = ['time', ...columns.map(({ name }) => name)];
  const moments = series[0]?.points.map(({ at }) => at) ?? [];
  const rows = moments.map((at, index) => [at, ...columns.map(({ cells }) => cells[index] ?? null)]);
  return csvText([head, ...rows]);
}

/** usage-cost-micros-by-model-2026-11-15.csv */
export function csvName({ metric, group_by: group, to }: Timeseries): string {
  const by = group === 'none' ? '' : `-by-${group}`;
  // The range ends before `to`, which for whole days is the midnight after it.
  const lastDay = new Date(Date.parse(to) - 1).toISOString().slice(0, 10);
  return `usage-${metric}${by}-${lastDay}.csv`.replaceAll('_', '-');
}
