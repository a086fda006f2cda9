import Type, { type Static } from 'typebox';
import { completeUntil } from '../complete-until.ts';
import { closed, Id, integer, nullable, oneOf, optional, query, Timestamp } from '../schema.ts';
import { LimitUsage } from './limit-usage.ts';
import { Bucket, spendSums } from './stats.ts';
import { Health, HealthDetail } from './values.ts';

/** The time range of statistics in whole buckets; without one, the latest hours. */
export const BucketRangeQuery = query({
  bucket: optional(Bucket),
  from: optional(Timestamp),
  to: optional(Timestamp),
});

export const Quantile = nullable(integer(), {
  description:
    'By nearest rank: exact up to 1,000 ms, rounded to two significant digits above that. Null if nothing was measured.',
});

const Ttft = nullable(integer(), {
  description:
    'From the dispatch of the last attempt to its first content, without the wait; the metric `ttft_ms` of `GET /api/relay/stats/timeseries` is from arrival. By nearest rank, like `duration_ms_p95`. Null if nothing was measured.',
});

export const Counted = oneOf(['organization', 'own'], {
  description: '`own`: only the caller’s requests, because the caller lacks `relay:usage:read:organization`.',
});

const EndpointStats = closed('EndpointStats', {
  endpoint_id: Id,
  endpoint_name: Type.String(),
  provider_id: Id,
  health: Health,
  health_detail: HealthDetail,
  cooldown_until: nullable(Timestamp),
  requests: integer({ description: 'Requests whose last attempt went to this endpoint.' }),
  served: integer(),
  failed: integer(),
  cancelled: integer(),
  rejected: integer({
    description:
      'Requests that Relay rejected because of a limit of this endpoint, including its `max_concurrency`. They reached no endpoint, so `requests` does not count them.',
  }),
  series: Type.Array(integer(), {
    description: 'Requests in each bucket of the range, oldest first. Empty if there were none.',
  }),
  ttft_ms_p50: Ttft,
  ttft_ms_p95: Ttft,
  duration_ms_p95: Quantile,
  errors: Type.Array(closed('ErrorCount', { error_code: nullable(Type.String()), requests: integer() }), {
    description: 'Failed requests by error code, the most frequent first.',
  }),
  ...spendSums,
  metered_requests: integer({ description: 'Attempts at this endpoint that used something.' }),
  tightest_limit: nullable(LimitUsage, {
    description:
      'Of the limits that apply to every request of this endpoint (its own, with its `max_concurrency`, its provider’s, its credential’s and those of the organization), the one of which the largest share is used now or, with the periods `hour`, `day`, `week` and `month`, will be used when it resets. If shares are equal, the share used now decides, then the narrower limit. Null if there is none, and if `limits` is not `read`.',
  }),
});
export type EndpointStats = Static<typeof EndpointStats>;

/** Traffic, latency, errors, spend, health and tightest limit of every endpoint. */
export const EndpointStatsPage = closed('EndpointStatsPage', {
  bucket: Bucket,
  from: Timestamp,
  to: Timestamp,
  ...completeUntil,
  counted: Counted,
  limits: oneOf(['read', 'no_access', 'unavailable'], {
    description:
      '`no_access`: the caller lacks `relay:limits:read:organization`. `unavailable`: the state of limits can’t be read right now.',
  }),
  endpoints: Type.Array(EndpointStats),
});
export type EndpointStatsPage = Static<typeof EndpointStatsPage>;
