import type { Timeseries } from '@relay/contract';
import type { TimeRange } from '../../time-range/time-range.ts';
import { sumOf } from './compare.ts';
import { figureOf, seriesNow } from './use-home-figures.ts';

type Series = Timeseries['series'][number];

/** What a key spent in the range. */
export interface KeySpend {
  /** Null for the rows below the first. */
  readonly series: Series | null;
  /** How many keys it sums; null if the server summed some of them. */
  readonly count: number | null;
  /** For each bucket, oldest first; null if unknown, since the keys with most spend are not those with most requests. */
  readonly requests: readonly number[] | null;
  readonly costMicros: number;
  readonly share: number;
  /** Null without earlier spend. */
  readonly change: number | null;
}

/** The keys that spent most; those below are summed in one row. `spend` also has the preceding range. */
export function keySpends(
  spend: Timeseries,
  requests: Timeseries,
  range: TimeRange,
  shown: number,
): readonly KeySpend[] {
  const spent = seriesNow(spend, range.from)
    .map((now, index) => ({ now, whole: spend.series[index] ?? now }))
    .filter(({ now: { total } }) => (total ?? 0) > 0)
    .toSorted((a, b) => (b.now.total ?? 0) - (a.now.total ?? 0));
  const all = spent.reduce((sum, { now: { total } }) => sum + (total ?? 0), 0);
  const pointsOf = new Map(requests.series.map((each) => [identityOf(each), each.points]));
  const rowOf = (group: typeof spent): KeySpend => {
    const costMicros = group.reduce((sum, { now: { total } }) => sum + (total ?? 0), 0);
    const points = group.flatMap(({ now }) => {
      const own = pointsOf.get(identityOf(now));
      return own === undefined ? [] : [own];
    });
    const wholes = new Set(group.map(({ whole }) => whole));
    return {
      series: group.length === 1 ? (group[0]?.now ?? null) : null,
      count: group.some(({ now: { kind } }) => kind === 'other') ? null : group.length,
      requests:
        points.length < group.length
          ? null
          : (points[0] ?? []).map((_, at) => sumOf(points.flatMap((each) => each[at] ?? []))),
      costMicros,
      share: costMicros / all,
      change: figureOf(spend, range, (each) => wholes.has(each)).change,
    };
  };
  // One row below the first is shown itself.
  const first = spent.length === shown + 1 ? spent : spent.slice(0, shown);
  const rest = spent.slice(first.length);
  return [...first.map((each) => rowOf([each])), ...(rest.length === 0 ? [] : [rowOf(rest)])];
}

function identityOf({ kind, key }: Pick<Series, 'kind' | 'key'>): string {
  return `${kind} ${key}`;
}
