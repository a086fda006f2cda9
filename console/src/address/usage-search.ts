import { TimeseriesQuery } from '@relay/contract';
import type { Bucket } from '../format/times.ts';
import { oneOf } from '../format/values.ts';
import { wordOf } from './list-search.ts';

export type UsageMetric = TimeseriesQuery['metric'];
export type UsageGroup = NonNullable<TimeseriesQuery['group_by']>;

const METRICS: readonly UsageMetric[] = TimeseriesQuery.properties.metric.enum;
export const usageGroups: readonly UsageGroup[] = [
  'none',
  'provider',
  'model',
  'lane',
  'endpoint',
  'api_key',
  'user',
  'state',
  'service',
];
const BUCKETS: readonly Bucket[] = ['minute', 'hour', 'day'];

/** The filters of the usage page, as URL parameters. */
export const usageFilterNames = ['provider', 'lane', 'endpoint', 'key', 'user'] as const;
export type UsageFilterName = (typeof usageFilterNames)[number];

/** The URL parameters of the page, besides the time range. The defaults are spend, by model. */
export type UsageSearch = {
  readonly metric?: UsageMetric;
  readonly by?: UsageGroup;
  readonly bucket?: Bucket;
} & { readonly [Name in UsageFilterName]?: string };

export const DEFAULT_METRIC: UsageMetric = 'cost_micros';
export const DEFAULT_GROUP: UsageGroup = 'model';

/** For the route's `validateSearch`: drops values that the API would reject. */
export function usageSearch(search: Record<string, unknown>): UsageSearch {
  const found: { -readonly [Name in UsageFilterName]?: string } = {};
  for (const name of usageFilterNames) {
    const word = wordOf(search[name]);
    if (word !== undefined && word.length <= 100) found[name] = word;
  }
  const metric = oneOf(METRICS, search['metric']);
  const by = oneOf(usageGroups, search['by']);
  const bucket = oneOf(BUCKETS, search['bucket']);
  return {
    ...(metric === undefined || metric === DEFAULT_METRIC ? {} : { metric }),
    ...(by === undefined || by === DEFAULT_GROUP || !canGroup(metric ?? DEFAULT_METRIC, by) ? {} : { by }),
    ...(bucket === undefined ? {} : { bucket }),
    ...found,
  };
}

/** Only the number of requests is broken down by how they ended. */
export function canGroup(metric: UsageMetric, by: UsageGroup): boolean {
  return (by !== 'state' && by !== 'service') || metric === 'requests';
}
