import type { Live } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { liveQuery } from '../api/live-queries.ts';
import { timeseriesQuery } from '../api/usage-queries.ts';
import { useApi } from '../api/use-api.ts';
import { useAccess } from '../session/use-access.ts';
import { useNow } from '../ui/use-now.ts';

/** Outside Live, which reads every second, a few seconds are soon enough. */
const LOOK_MS = 5_000;
const SUMS_MS = 60_000;
const HOUR_MS = 3_600_000;
const STEP_MS = 300_000;

/** What happens now, for the strip and the navigation. Undefined while loading and without access. */
export interface Totals {
  readonly waiting: number | undefined;
  readonly inFlight: number | undefined;
  readonly longestWaitMs: number;
  readonly failedInHour: number | undefined;
  readonly spentMicros: number | undefined;
  /** Every endpoint that is not healthy, and of the others those with requests. */
  readonly endpoints: Live['endpoints'];
}

export function useTotals(): Totals {
  const api = useApi();
  const { can } = useAccess();
  const nowMs = useNow(SUMS_MS);
  const { data: live } = useQuery({
    ...liveQuery(api),
    refetchInterval: LOOK_MS,
    enabled: can('getLive'),
  });
  const sums = { enabled: can('getTimeseries'), refetchInterval: SUMS_MS } as const;
  const day = new Date(nowMs).toISOString().slice(0, 10);
  const spend = useQuery({
    ...timeseriesQuery(api, { metric: 'cost_micros', bucket: 'hour', from: `${day}T00:00:00.000Z` }),
    ...sums,
  });
  const hourAgo = new Date(Math.floor((nowMs - HOUR_MS) / STEP_MS) * STEP_MS).toISOString();
  const errors = useQuery({
    ...timeseriesQuery(api, { metric: 'errors', bucket: 'minute', from: hourAgo }),
    ...sums,
  });
  const sum = (of: 'waiting' | 'in_flight') => live?.lanes.reduce((total, lane) => total + lane[of], 0);
  return {
    waiting: sum('waiting'),
    inFlight: sum('in_flight'),
    longestWaitMs: Math.max(0, ...(live?.lanes ?? []).map((lane) => lane.longest_wait_ms)),
    failedInHour: errors.data?.series[0]?.total ?? (errors.data === undefined ? undefined : 0),
    spentMicros: spend.data?.series[0]?.total ?? (spend.data === undefined ? undefined : 0),
    endpoints: live?.endpoints ?? [],
  };
}
