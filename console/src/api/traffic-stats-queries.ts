import type { ApiKeyStatsPage, LaneStats, LaneStatsPage } from '@relay/contract';
import { queryOptions } from '@tanstack/react-query';
import { type Api, take } from './client.ts';
import { cacheKeys } from './queries.ts';
import type { DayFigure } from './usage-queries.ts';

/** The last 24 hours of one lane or key. */
export interface DayTraffic {
  readonly requests: DayFigure;
  readonly failed: number;
  /** Its total is null if none of the requests has a price. */
  readonly spend: DayFigure;
  /** How many requests the spend leaves out, because their endpoint had no price. */
  readonly unpriced: number;
  /** Null without requests. */
  readonly waitMsP95: number | null;
  /** Fallbacks per request; null without requests. */
  readonly fallbackRate: number | null;
  /** The cost of attempts that another attempt followed. */
  readonly fallbackMicros: number;
}

/** The last 24 hours of all lanes or keys. */
export interface TrafficDay {
  /** By ID; requests without one are under the empty string. Those without requests are missing. */
  readonly of: ReadonlyMap<string, DayTraffic>;
  /** The requests and the cost of all together. */
  readonly requests: number;
  readonly costMicros: number;
  /** How many more had requests, which the server lists only combined. */
  readonly further: number;
}

/** For all lanes in one call. */
export function laneStatsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.laneStats,
    queryFn: async ({ signal }) => laneDayOf(await take(api.GET('/api/relay/stats/lanes', { signal }))),
    staleTime: 60_000,
  });
}

/** For all keys in one call. */
export function apiKeyStatsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.apiKeyStats,
    queryFn: async ({ signal }) => keyDayOf(await take(api.GET('/api/relay/stats/api-keys', { signal }))),
    staleTime: 60_000,
  });
}

/** The spend of some rows, as far as it is known, and how many requests it leaves out; null where a row is unknown. */
export function spendOf(rows: readonly (DayTraffic | undefined)[]): DaySpend | null {
  let [micros, unpriced, isKnown] = [0, 0, rows.length === 0];
  for (const row of rows) {
    if (row === undefined) return null;
    micros += row.spend.total ?? 0;
    unpriced += row.unpriced;
    isKnown ||= row.requests.total !== 0 && row.spend.total !== null;
  }
  return { micros: isKnown || unpriced === 0 ? micros : null, unpriced };
}

interface DaySpend {
  /** Null if no price is known. */
  readonly micros: number | null;
  readonly unpriced: number;
}

/** The figures of one row; undefined while loading, and where they are unknown. */
export function dayIn(day: TrafficDay | undefined, id: string): DayTraffic | undefined {
  if (day === undefined) return undefined;
  return day.of.get(id) ?? (day.further === 0 ? NOTHING : undefined);
}

const NOTHING: DayTraffic = {
  requests: { total: 0, hours: [] },
  failed: 0,
  spend: { total: 0, hours: [] },
  unpriced: 0,
  waitMsP95: null,
  fallbackRate: null,
  fallbackMicros: 0,
};

export function laneDayOf({ lanes, other }: LaneStatsPage): TrafficDay {
  return dayOf(
    lanes.map(({ lane_id: id, ...stats }) => ({ ...stats, id })),
    other,
    other?.lanes,
  );
}

function keyDayOf({ api_keys: keys, other }: ApiKeyStatsPage): TrafficDay {
  return dayOf(
    keys.map(({ api_key_id: id, ...stats }) => ({ ...stats, id })),
    other,
    other?.api_keys,
  );
}

type Sums = Pick<LaneStats, 'requests' | 'cost_micros'>;
type Stats = Omit<LaneStats, 'lane_id' | 'lane_name'> & { readonly id: string | null };

function dayOf(rows: readonly Stats[], other: Sums | null, further = 0): TrafficDay {
  const all: readonly Sums[] = other === null ? rows : [...rows, other];
  return {
    of: new Map(rows.map((row) => [row.id ?? '', trafficOf(row)])),
    requests: all.reduce((sum, { requests }) => sum + requests, 0),
    costMicros: all.reduce((sum, { cost_micros: micros }) => sum + (micros ?? 0), 0),
    further,
  };
}

function trafficOf(row: Stats): DayTraffic {
  const { requests, failed, fallbacks, series, cost_micros: micros, wait_ms_p95: waitMsP95 } = row;
  return {
    requests: { total: requests, hours: series },
    failed,
    spend: { total: micros, hours: [] },
    unpriced: row.unpriced_requests,
    waitMsP95,
    fallbackRate: requests === 0 ? null : fallbacks / requests,
    fallbackMicros: row.fallback_cost_micros ?? 0,
  };
}
