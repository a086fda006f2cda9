import type { Timeseries } from '@relay/contract';
import { BUCKET_MS, type BucketRange } from '../../store/ledger/rollups/bucket.ts';
import type { Measured, SeriesRow, Sum } from '../../store/ledger/rollups/read-series.ts';
import { isMoney, METRICS, type Metric, moneyIn, NOTHING, sumMeasured } from './metrics.ts';

export type Series = Timeseries['series'][number];

/** The sums of one group, by start of the bucket. */
export type Buckets = ReadonlyMap<number, Measured>;

export function groupsIn(rows: readonly SeriesRow[]): Map<string | null, Map<number, Measured>> {
  const groups = new Map<string | null, Map<number, Measured>>();
  for (const row of rows) {
    const buckets = groups.get(row.name) ?? new Map<number, Measured>();
    groups.set(row.name, buckets.set(row.bucketStartMs, row));
  }
  return groups;
}

/** One point per bucket of the range, including empty ones. */
export function seriesOf(
  metric: Metric,
  range: BucketRange,
  head: Pick<Series, 'kind' | 'key' | 'label'>,
  buckets: Buckets,
): Series {
  const { value } = METRICS[metric];
  const points: Series['points'] = [];
  for (let atMs = range.fromMs; atMs < range.toMs; atMs += BUCKET_MS[range.bucket]) {
    const measured: Measured = buckets.get(atMs) ?? NOTHING;
    points.push({
      at: new Date(atMs).toISOString(),
      value: value(measured),
      ...usd('value_usd', metric, measured),
    });
  }
  const whole = sumMeasured(buckets.values());
  return { ...head, total: value(whole), ...usd('total_usd', metric, whole), points };
}

function usd<Name extends string>(
  name: Name,
  metric: Metric,
  measured: Measured,
): Partial<Record<Name, string | null> & { unpriced_requests: number }> {
  if (!isMoney(metric)) return {};
  const { usd: exact, unpriced_requests } = moneyIn(measured);
  return { ...({ [name]: exact } as Record<Name, string | null>), unpriced_requests };
}

const LABELS = { none: 'none', other: 'other' } as const;

/** Groups from largest to smallest, then requests without a group, then all remaining groups together. */
export function groupedSeries(
  metric: Metric,
  range: BucketRange,
  rows: readonly SeriesRow[],
  names: ReadonlyMap<string, string>,
): Series[] {
  const groups = [...groupsIn(rows)].map(([name, buckets]) => {
    const kind = name === null ? 'other' : name === '' ? 'none' : 'group';
    const head =
      kind === 'group'
        ? { kind, key: name, label: names.get(name ?? '') ?? name ?? '' }
        : { kind, key: null, label: LABELS[kind] };
    return { size: sizeOf(metric, buckets), series: seriesOf(metric, range, head as Series, buckets) };
  });
  const places = { group: 0, none: 1, other: 2, all: 3 };
  return groups
    .sort((a, b) => places[a.series.kind] - places[b.series.kind] || b.size - a.size || order(a, b))
    .map(({ series }) => series);
}

/** The size of a group: the total of the requested sums. */
function sizeOf(metric: Metric, buckets: Buckets): number {
  const ranked = METRICS[metric].sums.length;
  const sums = [...buckets.values()].flatMap((measured) => measured.sums.slice(0, ranked));
  return Number(sums.reduce((sum, number) => sum + number, 0n));
}

function order(a: { series: Series }, b: { series: Series }): number {
  return (a.series.key ?? '') < (b.series.key ?? '') ? -1 : 1;
}

type Counts = readonly bigint[];

/** How each series follows from the sums of `SUMS_BY_OUTCOME`. */
const BY_OUTCOME = {
  state: {
    completed: ([completed = 0n]: Counts) => completed,
    failed: ([, failed = 0n]: Counts) => failed,
    cancelled: ([, , cancelled = 0n]: Counts) => cancelled,
  },
  service: {
    immediate: ([completed = 0n, , , waited = 0n]: Counts) => completed - waited,
    waited: ([, , , waited = 0n]: Counts) => waited,
    failed: ([, failed = 0n]: Counts) => failed,
    cancelled: ([, , cancelled = 0n]: Counts) => cancelled,
  },
} as const;

/** Groupings by how requests ended. */
export type Outcome = keyof typeof BY_OUTCOME;

export const SUMS_BY_OUTCOME: Readonly<Record<Outcome, readonly Sum[]>> = {
  state: METRICS.requests.sums,
  service: [...METRICS.requests.sums, 'requests_waited'],
};

export function isOutcome(group: string): group is Outcome {
  return group in BY_OUTCOME;
}

/** Requests by how they ended: always all series of the grouping. */
export function outcomeSeries(outcome: Outcome, range: BucketRange, rows: readonly SeriesRow[]): Series[] {
  const buckets = [...(groupsIn(rows).get('') ?? new Map<number, Measured>())];
  return Object.entries(BY_OUTCOME[outcome]).map(([key, countIn]) => {
    const own = buckets.map(([atMs, { sums }]) => [atMs, { ...NOTHING, sums: [countIn(sums)] }] as const);
    return seriesOf('requests', range, { kind: 'group', key, label: key }, new Map(own));
  });
}
