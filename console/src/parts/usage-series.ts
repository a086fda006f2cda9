import type { Timeseries } from '@relay/contract';
import { text } from '../text/index.ts';
import type { ChartSeries, ChartTone } from '../ui/charts/chart-data.ts';

type Series = Timeseries['series'][number];

const words = text.usage;
const OUTCOME_TONES = {
  completed: 'good',
  immediate: 'good',
  waited: 'wait',
  failed: 'bad',
  cancelled: 'neutral',
} as const satisfies Record<string, ChartTone>;

type Outcome = keyof typeof OUTCOME_TONES;

/** How requests ended, if that is what they are grouped by. */
function outcomeOf(key: string | null, group: Timeseries['group_by']): Outcome | undefined {
  const isOutcome = (group === 'state' || group === 'service') && key !== null && key in OUTCOME_TONES;
  return isOutcome ? (key as Outcome) : undefined;
}

/** Converts an API response to chart series. */
export function chartSeriesOf({ group_by: group, series }: Timeseries, keyless?: string): ChartSeries[] {
  // Empty groups are left out, except outcomes, which are always all shown.
  const some = series.filter(
    ({ kind, key, total }) => outcomeOf(key, group) !== undefined || kind === 'all' || (total ?? 0) > 0,
  );
  return some.map((each) => {
    const outcome = outcomeOf(each.key, group);
    return {
      key: seriesKey(each),
      label: seriesLabel(each, group, keyless),
      ...(outcome === undefined ? {} : { tone: OUTCOME_TONES[outcome] }),
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
  /** What requests without a key are called. */
  keyless: string = words.without.api_key,
): string {
  if (kind === 'all') return words.all;
  if (kind === 'none') return group === 'api_key' ? keyless : words.without[group];
  if (kind === 'other') return text.charts.other;
  const outcome = outcomeOf(key, group);
  return outcome === undefined ? label : words.outcomes[outcome];
}
