import Type, { type Static } from 'typebox';
import { completeUntil } from '../complete-until.ts';
import { costSums, fallbackPart, unpricedRequests } from '../cost-sums.ts';
import {
  closed,
  ExactUsd,
  Id,
  integer,
  nullable,
  oneOf,
  optional,
  query,
  Timestamp,
  text,
} from '../schema.ts';

export const StatsSummary = closed('StatsSummary', {
  ...completeUntil,
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
    'fallback_cost_micros',
  ],
  {
    description:
      '`errors` are requests that failed. Requests count at their arrival and at the endpoint of their last attempt; tokens and cost count at the dispatch of each attempt and at its own endpoint, provider and model. Quantiles are by nearest rank: exact up to 1,000 ms, rounded to two significant digits above that. `ttft_ms` is the mean time to the first content. `fallback_rate` is fallbacks per request. `fallback_cost_micros` is the part of `cost_micros` for attempts that another attempt followed. Both are rounded half up, with the exact sums in `total_usd` and `value_usd`.',
  },
);
const GroupBy = oneOf(
  ['none', 'state', 'service', 'lane', 'endpoint', 'provider', 'model', 'api_key', 'user'],
  {
    default: 'none',
    description:
      '`state` and `service` require metric `requests`. `service` groups completed requests by whether they waited for capacity (`immediate` or `waited`); `failed` and `cancelled` are separate groups. `model` is the upstream model of the endpoint.',
  },
);
export const Bucket = oneOf(['minute', 'hour', 'day'], {
  default: 'hour',
  description: 'In UTC. Relay keeps minutes for 8 days and hours for 100 days.',
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
    'In a bucket without requests, counts and sums are 0; quantiles, means and rates are null. A cost is also null if none of the requests has a price.',
});
/** Only of metrics of cost. */
const SeriesUsd = optional(nullable(ExactUsd));

export const Timeseries = closed('Timeseries', {
  metric: SeriesMetric,
  group_by: GroupBy,
  bucket: Bucket,
  from: Timestamp,
  to: Timestamp,
  ...completeUntil,
  series: Type.Array(
    closed('Series', {
      kind: oneOf(['all', 'group', 'none', 'other'], {
        description:
          '`all`: not grouped. `none`: requests that have no value for the grouping. `other`: everything after the first 50 groups, combined.',
      }),
      key: nullable(Type.String({ description: 'The ID or value of the group; null for the other kinds.' })),
      label: Type.String({ description: 'The name, or the ID if the resource was deleted.' }),
      total: SeriesValue,
      total_usd: SeriesUsd,
      unpriced_requests: optional(unpricedRequests),
      points: Type.Array(
        closed('SeriesPoint', {
          at: Timestamp,
          value: SeriesValue,
          value_usd: SeriesUsd,
          unpriced_requests: optional(unpricedRequests),
        }),
      ),
    }),
  ),
});
export type Timeseries = Static<typeof Timeseries>;

const showbackFields = {
  group_by: optional(
    text({
      maxLength: 40,
      default: 'team',
      description: '`team`, `key`, `member`, `model`, or `label:NAME`, such as `label:app`.',
    }),
  ),
  from: optional(Timestamp),
  to: optional(Timestamp),
};

export const ShowbackQuery = query(showbackFields);

export const ShowbackExportQuery = query({
  ...showbackFields,
  format: optional(
    oneOf(['summary', 'focus'], {
      default: 'summary',
      description:
        '`summary`: the lines of `GET /api/relay/stats/showback`. `focus`: FOCUS 1.2 columns, one line per day, team, set of labels, key and endpoint; `group_by` has no effect.',
    }),
  ),
});
export type ShowbackQuery = Static<typeof ShowbackExportQuery>;

const showbackSums = {
  requests: integer(),
  metered_requests: integer({
    description:
      'Requests that used something: those of which an attempt was sent, except those that every provider rejected without reporting usage.',
  }),
  input_tokens: integer(),
  cached_input_tokens: integer(),
  output_tokens: integer(),
  ...costSums({ cost: 'At the configured prices.' }),
};

export const ShowbackLine = closed('ShowbackLine', {
  kind: oneOf(['group', 'none', 'other'], {
    description:
      '`none`: requests that have no value for the grouping. `other`: everything after the 1,000 groups with the highest cost, combined.',
  }),
  key: nullable(Type.String({ description: 'The ID or value of the group; null for the other kinds.' })),
  label: Type.String({ description: 'The name, or the ID if the resource was deleted.' }),
  ...showbackSums,
});
export type ShowbackLine = Static<typeof ShowbackLine>;

/** Who spent what. The lines add up to the total, and the total to the ledger. */
export const Showback = closed('Showback', {
  group_by: Type.String(),
  from: Timestamp,
  to: Timestamp,
  total: closed('ShowbackTotal', showbackSums),
  lines: Type.Array(ShowbackLine),
});
export type Showback = Static<typeof Showback>;

export const MeteredUsageQuery = query({
  bucket: optional(oneOf(['hour', 'day'], { default: 'day' })),
  from: Timestamp,
  to: Timestamp,
});

/** What Relay metered, to be held against a provider's own report. */
export const MeteredUsage = closed('MeteredUsage', {
  bucket: oneOf(['hour', 'day']),
  from: Timestamp,
  to: Timestamp,
  rows: Type.Array(
    closed('MeteredUsageRow', {
      at: Timestamp,
      provider_id: nullable(Id),
      endpoint_id: nullable(Id),
      upstream_model: nullable(Type.String(), { description: 'Null if the endpoint was deleted.' }),
      requests: integer({
        description: 'Attempts that used something: a provider counts each of them as a request.',
      }),
      failed_requests: integer(),
      estimated_requests: integer({
        description:
          'Requests with an attempt whose usage is an estimate, because the provider did not report it.',
      }),
      input_tokens: integer(),
      cached_input_tokens: integer(),
      output_tokens: integer(),
      ...costSums({ cost: 'At the configured prices.' }),
    }),
  ),
});
export type MeteredUsage = Static<typeof MeteredUsage>;

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
  undispatched: integer({
    description: 'The part of `requests` that reached no endpoint, such as rejected requests.',
  }),
  bins: Type.Array(
    closed('WaitBin', {
      from_ms: integer(),
      up_to_ms: nullable(integer(), { description: 'Inclusive. Null if the upper end is not known.' }),
      requests: integer(),
    }),
    {
      description:
        'Bins that contain requests. Bins are 1 ms wide up to 1,000 ms; above that, they end at values with two significant digits. Requests recorded by an earlier version are in wider bins, which overlap these.',
    },
  ),
});
export type WaitDistribution = Static<typeof WaitDistribution>;

export const spendSums = {
  ...costSums({ cost: 'At the configured prices.', fallback_cost: fallbackPart }),
  metered_requests: integer({
    description:
      'Requests that used something: those of which an attempt was sent, except those that every provider rejected without reporting usage.',
  }),
};

/** Spend of the present day and month in UTC, and where the month will end at its rate. */
export const Spend = closed('Spend', {
  at: Timestamp,
  ...completeUntil,
  counted: oneOf(['organization', 'own'], {
    description:
      '`own`: only the caller’s requests, because the caller lacks `relay:usage:read:organization`.',
  }),
  today: closed('SpendToday', { from: Timestamp, ...spendSums }),
  month: closed('SpendMonth', {
    from: Timestamp,
    to: Timestamp,
    ...spendSums,
    forecast_micros: nullable(integer(), {
      description:
        'Expected spend for the whole month, at the rate since it began. Null while less than a tenth of the month has passed, unless at least half of the budget is spent, and if none of the requests has a price.',
    }),
    budget_micros: nullable(integer(), {
      description:
        'The smallest shared monthly budget for the whole organization. Null if there is none, and for callers that can’t read it.',
    }),
    over_budget_at: nullable(Timestamp, {
      description:
        'When the budget runs out at this rate; now if it already has. Null if it lasts until the month ends, and without a budget.',
    }),
    days: Type.Array(nullable(integer()), {
      description:
        'Spend on each day since the month began, in micro-USD; today is last. Null for a day of which no request has a price.',
    }),
  }),
});
export type Spend = Static<typeof Spend>;
