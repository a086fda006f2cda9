import type { Timeseries } from '@relay/contract';
import { text } from '../text/index.ts';
import type { ChartSeries, ChartTone } from '../ui/charts/chart-data.ts';

type Series = Timeseries['series'][number];

const words = text.usage;
const STATE_TONES: Readonly<Record<string, ChartTone>> = {
  completed: 'good',
  failed: 'bad',
  cancelled: 'neutral',
};

/** Converts an API response to chart series. */
export function chartSeriesOf({ group_by: group, series }: Timeseries): ChartSeries[] {
  // Empty groups are left out, except states, which are always all shown.
  const some = series.filter(({ kind, total }) => group === 'state' || kind === 'all' || (total ?? 0) > 0);
  return some.map((each) => {
    const tone = group === 'state' && each.key !== null ? STATE_TONES[each.key] : undefined;
    return {
      key: seriesKey(each),
      label: seriesLabel(each, group),
      ...(tone === undefined ? {} : { tone }),
      points: each.points,
    };
  });
}

/** A unique key for each series; charts treat `other` specially. */
export function seriesKey({ kind, key }: Pick<Series, 'kind' | 'key'>): string {
  return kind === 'group' ? `group:${key}` : kind;
}

export function seriesLabel(
  { kind, key, label }: Pick<Series, 'kind' | 'key' | 'label'>,
  group: Timeseries['group_by'],
): string {
  if (kind === 'all') return words.all;
  if (kind === 'none') return words.without[group];
  if (kind === 'other') return text.charts.other;
  const isState = key === 'completed' || key === 'failed' || key === 'cancelled';
  return group === 'state' && isState ? words.states[key] : label;
}
