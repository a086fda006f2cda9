import Type, { type Static } from 'typebox';
import { closed, integer, nullable, oneOf, optional, query, Timestamp } from '../schema.ts';

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

const SeriesMetric = oneOf([
  'requests',
  'errors',
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cost_micros',
  'wait_ms',
  'duration_ms',
]);
const GroupBy = oneOf(['none', 'state', 'lane', 'endpoint', 'provider', 'model', 'api_key', 'user'], {
  default: 'none',
});
const Bucket = oneOf(['minute', 'hour', 'day'], { default: 'hour' });

export const TimeseriesQuery = query({
  metric: SeriesMetric,
  group_by: optional(GroupBy),
  bucket: optional(Bucket),
  from: optional(Timestamp),
  to: optional(Timestamp),
});
export type TimeseriesQuery = Static<typeof TimeseriesQuery>;

export const Timeseries = closed('Timeseries', {
  metric: SeriesMetric,
  group_by: GroupBy,
  bucket: Bucket,
  from: Timestamp,
  to: Timestamp,
  series: Type.Array(
    closed('Series', {
      key: nullable(Type.String({ description: 'The id or value of the group; null when ungrouped.' })),
      label: Type.String(),
      total: integer(),
      points: Type.Array(closed('SeriesPoint', { at: Timestamp, value: integer() })),
    }),
  ),
});
export type Timeseries = Static<typeof Timeseries>;
