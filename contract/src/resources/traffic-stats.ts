import Type, { type Static } from 'typebox';
import { completeUntil } from '../complete-until.ts';
import { closed, Id, integer, nullable, Timestamp } from '../schema.ts';
import { Counted, Quantile } from './endpoint-stats.ts';
import { Bucket, spendSums } from './stats.ts';

/** The most rows of one response. The descriptions below name it. */
export const TRAFFIC_ROWS_MAX = 10_000;

const sums = {
  requests: integer(),
  served: integer(),
  failed: integer(),
  cancelled: integer(),
  rejected: integer({
    description:
      'The part of `failed` that reached no endpoint, for example because a limit or a guardrail rejected them.',
  }),
  fallbacks: integer({ description: 'Fallbacks to other endpoints. A request can have several.' }),
  ...spendSums,
};

const figures = {
  ...sums,
  series: Type.Array(integer(), { description: 'Requests in each bucket of the range, oldest first.' }),
  wait_ms_p95: Quantile,
};

const LaneStats = closed('LaneStats', {
  lane_id: nullable(Id, { description: 'Null: requests without a lane.' }),
  lane_name: nullable(Type.String(), { description: 'Null for a deleted lane, and without a lane.' }),
  ...figures,
});
export type LaneStats = Static<typeof LaneStats>;

const ApiKeyStats = closed('ApiKeyStats', {
  api_key_id: nullable(Id, { description: 'Null: requests without an API key.' }),
  api_key_name: nullable(Type.String(), { description: 'Null for a deleted key, and without a key.' }),
  ...figures,
});
export type ApiKeyStats = Static<typeof ApiKeyStats>;

const range = { bucket: Bucket, from: Timestamp, to: Timestamp, ...completeUntil, counted: Counted };
const most = 'with requests in the range, the highest cost first; 10,000 at most.';

/** Traffic, errors, waits, fallbacks and spend of every lane with requests. */
export const LaneStatsPage = closed('LaneStatsPage', {
  ...range,
  lanes: Type.Array(LaneStats, { description: `Lanes ${most}` }),
  other: nullable(closed('OtherLanes', { lanes: integer(), ...sums }), {
    description: 'All further lanes combined. Null if there are none.',
  }),
});
export type LaneStatsPage = Static<typeof LaneStatsPage>;

/** Traffic, errors, waits, fallbacks and spend of every API key with requests. */
export const ApiKeyStatsPage = closed('ApiKeyStatsPage', {
  ...range,
  api_keys: Type.Array(ApiKeyStats, { description: `API keys ${most}` }),
  other: nullable(closed('OtherApiKeys', { api_keys: integer(), ...sums }), {
    description: 'All further API keys combined. Null if there are none.',
  }),
});
export type ApiKeyStatsPage = Static<typeof ApiKeyStatsPage>;
