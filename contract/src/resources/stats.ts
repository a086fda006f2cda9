import Type, { type Static } from 'typebox';
import { closed, ExactUsd, Id, integer, nullable, oneOf, optional, query, Timestamp } from '../schema.ts';

export const StatsSummary = closed('StatsSummary', {
  providers: integer(),
  endpoints: integer(),
  lanes: integer(),
  requests: integer(),
  request_states: closed('RequestStateCounts', {
    completed: integer(),
    failed: integer(),
    cancelled: integer(),
  }),
});
export type StatsSummary = Static<typeof StatsSummary>;

const SeriesMetric = oneOf(
  [
    'requests',
    'errors',
    'input_tokens',
    'output_tokens',
    'cached_input_tokens',
    'total_tokens',
    'cost_micros',
    'wait_ms_p50',
    'wait_ms_p95',
    'latency_ms_p50',
    'latency_ms_p95',
    'ttft_ms',
    'fallback_rate',
  ],
  {
    description:
      '`errors` are requests that failed. Quantiles are read from histograms and exact to the width of a bin. `ttft_ms` is the mean time to the first content. `fallback_rate` is fallbacks for each request. `cost_micros` is rounded half up, with the exact sums in `total_usd` and `value_usd`.',
  },
);
const GroupBy = oneOf(['none', 'state', 'lane', 'endpoint', 'provider', 'model', 'api_key', 'user'], {
  default: 'none',
  description: '`state` goes with metric `requests` only. `model` is the upstream model of the endpoint.',
});
export const Bucket = oneOf(['minute', 'hour', 'day'], {
  default: 'hour',
  description: 'In UTC. Minutes are kept for 8 days and hours for 100.',
});

export const TimeseriesQuery = query({
  metric: SeriesMetric,
  group_by: optional(GroupBy),
  bucket: optional(Bucket),
  from: optional(Timestamp),
  to: optional(Timestamp),
  lane_id: optional(Id),
  endpoint_id: optional(Id),
  provider_id: optional(Id),
  api_key_id: optional(Id),
  user_uuid: optional(Id),
});
export type TimeseriesQuery = Static<typeof TimeseriesQuery>;

/** An integer for every metric except `fallback_rate`. */
const SeriesValue = nullable(Type.Number({ minimum: 0 }), {
  description:
    'Counts and sums of a bucket without requests are 0; a quantile, mean or rate of no requests is null.',
});

export const Timeseries = closed('Timeseries', {
  metric: SeriesMetric,
  group_by: GroupBy,
  bucket: Bucket,
  from: Timestamp,
  to: Timestamp,
  series: Type.Array(
    closed('Series', {
      kind: oneOf(['all', 'group', 'none', 'other'], {
        description:
          '`all`: not grouped. `none`: requests without the thing they are grouped by. `other`: what is beyond the first 50 groups, taken together.',
      }),
      key: nullable(Type.String({ description: 'The id or value of the group; null for every other kind.' })),
      label: Type.String({ description: 'The name; of what was deleted since, its id.' }),
      total: SeriesValue,
      total_usd: optional(ExactUsd),
      points: Type.Array(
        closed('SeriesPoint', { at: Timestamp, value: SeriesValue, value_usd: optional(ExactUsd) }),
      ),
    }),
  ),
});
export type Timeseries = Static<typeof Timeseries>;

export const WaitDistributionQuery = query({
  lane_id: Id,
  from: optional(Timestamp),
  to: optional(Timestamp),
});

/** How long requests of a lane waited for capacity. */
export const WaitDistribution = closed('WaitDistribution', {
  from: Timestamp,
  to: Timestamp,
  requests: integer(),
  bins: Type.Array(
    closed('WaitBin', {
      up_to_ms: nullable(integer(), {
        description:
          'The longest wait counted here, those of the bins before excepted; null in the last bin.',
      }),
      requests: integer(),
    }),
  ),
});
export type WaitDistribution = Static<typeof WaitDistribution>;
