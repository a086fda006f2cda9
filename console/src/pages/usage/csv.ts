import type { Timeseries } from '@relay/contract';
import { csvText } from '../../format/csv.ts';
import { metricLook } from '../../parts/usage-metrics.ts';
import { seriesKey } from '../../parts/usage-series.ts';
import { text } from '../../text/index.ts';
import { rankedRows } from './ranked-rows.ts';

const words = text.usage;

type Cell = string | number | null;
type Series = Timeseries['series'][number];

/** What the page shows, with exact numbers: the ranking, or the chart's points where there are no groups. */
export function csvOf(answer: Timeseries, keyless?: string): string {
  return csvText(answer.group_by === 'none' ? pointLines(answer) : rankingLines(answer, keyless));
}

function rankingLines(answer: Timeseries, keyless: string | undefined): readonly (readonly Cell[])[] {
  const { metric, group_by: group } = answer;
  const { label, adds } = metricLook(metric);
  const seriesOf = new Map(answer.series.map((each) => [seriesKey(each), each]));
  const share = adds ? [inUnit(words.share, '%')] : [];
  const peak = [headOf(words.peak, metric), inUnit(words.peakAt, 'UTC')];
  const lines = rankedRows(answer, adds, keyless).map((row): readonly Cell[] => {
    const series = seriesOf.get(row.id);
    const at = series?.points.find((point) => point.at === row.peak?.at);
    return [
      row.label,
      cellOf(metric, row.total, series?.total_usd),
      ...(adds ? [row.share === null ? null : percentOf(row.share)] : []),
      cellOf(metric, row.peak?.value ?? null, at?.value_usd),
      row.peak?.at ?? null,
    ];
  });
  return [[words.groups[group], headOf(label, metric), ...share, ...peak], ...lines];
}

function pointLines({ metric, series }: Timeseries): readonly (readonly Cell[])[] {
  const points: Series['points'] = series[0]?.points ?? [];
  return [
    [inUnit(words.time, 'UTC'), headOf(metricLook(metric).label, metric)],
    ...points.map(({ at, value, value_usd: usd }) => [at, cellOf(metric, value, usd)]),
  ];
}

const UNITS: Partial<Record<Timeseries['metric'], string>> = {
  cost_micros: 'USD',
  wait_ms_p50: 'ms',
  wait_ms_p95: 'ms',
  latency_ms_p50: 'ms',
  latency_ms_p95: 'ms',
  ttft_ms: 'ms',
  fallback_rate: '%',
  fallback_cost_micros: 'USD',
};

/** Counts have their unit in their name. */
function headOf(name: string, metric: Timeseries['metric']): string {
  const unit = UNITS[metric];
  return unit === undefined ? name : inUnit(name, unit);
}

function inUnit(name: string, unit: string): string {
  return `${name}, ${unit}`;
}

/** Spend in exact dollars, which micro-USD round. */
function cellOf(metric: Timeseries['metric'], value: number | null, usd: string | null | undefined): Cell {
  if (value === null) return null;
  if (metricLook(metric).isMoney) return usd ?? value / 1_000_000;
  return metric === 'fallback_rate' ? percentOf(value) : value;
}

function percentOf(share: number): number {
  return Number((share * 100).toFixed(4));
}

/** usage-spend-by-model-2026-11-09-to-2026-11-15.csv */
export function csvName({ metric, group_by: group, from, to }: Timeseries, isFiltered: boolean): string {
  // The range ends before `to`, which for whole days is the midnight after it.
  const [first, last] = [Date.parse(from), Date.parse(to) - 1].map((ms) =>
    new Date(ms).toISOString().slice(0, 10),
  );
  const parts = [
    'usage',
    metric === 'cost_micros' ? 'spend' : metric.replace('_micros', ''),
    ...(group === 'none' ? [] : ['by', group]),
    ...(isFiltered ? ['filtered'] : []),
    first,
    ...(first === last ? [] : ['to', last]),
  ];
  return `${parts.join('-')}.csv`.replaceAll('_', '-');
}
