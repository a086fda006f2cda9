import type { TimeseriesQuery } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useChangeSearch } from '../../address/change-search.ts';
import {
  canGroup,
  DEFAULT_GROUP,
  DEFAULT_METRIC,
  type UsageFilterName,
  type UsageGroup,
  type UsageMetric,
  type UsageSearch,
  usageFilterNames,
} from '../../address/usage-search.ts';
import { timeseriesQuery } from '../../api/usage-queries.ts';
import { useApi } from '../../api/use-api.ts';
import type { Bucket } from '../../format/times.ts';
import { bucketsFor, type TimeRange } from '../../time-range/time-range.ts';
import { useTimeRange } from '../../time-range/use-time-range.ts';

export type UsageFilters = { readonly [Name in UsageFilterName]?: string };

/** The parameters of the URL. */
export interface UsageChoice {
  readonly metric: UsageMetric;
  readonly by: UsageGroup;
  readonly bucket: Bucket;
  readonly buckets: readonly Bucket[];
  readonly filters: UsageFilters;
}

/** The data of the page and its setters; all parameters are in the URL. */
export function useUsage() {
  const api = useApi();
  const { range, choose } = useTimeRange();
  const search: UsageSearch = useSearch({ strict: false });
  const set = useChangeSearch();
  const choice = useMemo(() => choiceOf(search, range), [search, range]);
  const change = useMemo(
    () => ({
      set: (next: UsageSearch) => set(next),
      setFilter: (name: UsageFilterName, id: string | undefined) => set({ [name]: id }),
      clear: () => set(Object.fromEntries(usageFilterNames.map((name) => [name, undefined]))),
    }),
    [set],
  );
  const answer = useQuery(timeseriesQuery(api, questionOf(choice, range)));
  return { choice, change, range, chooseRange: choose, answer };
}

function choiceOf(search: UsageSearch, range: TimeRange): UsageChoice {
  const metric = search.metric ?? DEFAULT_METRIC;
  const by = search.by ?? DEFAULT_GROUP;
  const buckets = bucketsFor(range, Date.now());
  const bucket = [search.bucket, range.bucket].find((each) => each !== undefined && buckets.includes(each));
  const filters: { -readonly [Name in UsageFilterName]?: string } = {};
  for (const name of usageFilterNames) {
    const id = search[name];
    if (id !== undefined) filters[name] = id;
  }
  return {
    metric,
    by: canGroup(metric, by) ? by : DEFAULT_GROUP,
    bucket: bucket ?? buckets[0] ?? 'day',
    buckets,
    filters,
  };
}

const PARAMETERS = {
  provider: 'provider_id',
  lane: 'lane_id',
  endpoint: 'endpoint_id',
  key: 'api_key_id',
  user: 'user_uuid',
} as const;

function questionOf({ metric, by, bucket, filters }: UsageChoice, { from, to }: TimeRange): TimeseriesQuery {
  const conditions = Object.fromEntries(
    usageFilterNames.flatMap((name) =>
      filters[name] === undefined ? [] : [[PARAMETERS[name], filters[name]]],
    ),
  );
  return { metric, group_by: by, bucket, from, to, ...conditions };
}
