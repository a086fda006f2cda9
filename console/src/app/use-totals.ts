import type { Live } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMatchRoute } from '@tanstack/react-router';
import { liveQuery, pollEvery } from '../api/live-queries.ts';
import { spendQuery } from '../api/usage-queries.ts';
import { useApi } from '../api/use-api.ts';
import { useAccess } from '../session/use-access.ts';

/** Live itself reads every second unless it is paused. */
const LOOK_ON_LIVE_MS = 5_000;
const LOOK_MS = 15_000;
/** While requests wait, since their next slot is shown. */
const LOOK_WAITING_MS = 3_000;
const SUMS_MS = 60_000;

/** Undefined while loading and without access; null where unknown, since the latest read failed. */
export type Total = number | null | undefined;

/** What happens now, for the strip and the navigation. */
export interface Totals {
  readonly waiting: Total;
  readonly inFlight: Total;
  readonly longestWaitMs: number;
  /** When the next waiting request can go, by this browser's clock; null if none waits or it is unknown. */
  readonly nextSlotAtMs: number | null;
  /** In the last minute, for want of capacity. */
  readonly rejected: Total;
  readonly spentMicros: Total;
  /** Today's requests reached only endpoints without a price. */
  readonly isUnpriced: boolean;
  /** Every endpoint that is not healthy, and of the others those with requests. */
  readonly endpoints: Live['endpoints'];
}

export function useTotals(): Totals {
  const api = useApi();
  const { can } = useAccess();
  const isOnLive = useMatchRoute()({ to: '/live' }) !== false;
  const now = useQuery({
    ...liveQuery(api),
    refetchInterval: (query) => {
      const waits = query.state.data?.lanes.some(({ waiting }) => waiting > 0) === true;
      return pollEvery(waits ? LOOK_WAITING_MS : isOnLive ? LOOK_ON_LIVE_MS : LOOK_MS)(query);
    },
    enabled: can('getLive'),
  });
  const live = now.isError ? undefined : now.data;
  const spend = useQuery({
    ...spendQuery(api),
    enabled: can('getSpend'),
    refetchInterval: pollEvery(SUMS_MS),
  });
  const sum = (of: 'waiting' | 'in_flight' | 'rejections') =>
    now.isError ? null : live?.lanes.reduce((total, lane) => total + lane[of], 0);
  return {
    waiting: sum('waiting'),
    inFlight: sum('in_flight'),
    longestWaitMs: Math.max(0, ...(live?.lanes ?? []).map((lane) => lane.longest_wait_ms)),
    nextSlotAtMs: nextSlotOf(live, now.dataUpdatedAt),
    rejected: sum('rejections'),
    spentMicros: spend.isError ? null : spend.data && (spend.data.today.cost_micros ?? 0),
    isUnpriced: spend.data?.today.cost_micros === null,
    endpoints: live?.endpoints ?? [],
  };
}

function nextSlotOf(live: Live | undefined, readAtMs: number): number | null {
  const slots = (live?.lanes ?? []).flatMap(({ next_slot_ms: inMs }) => (inMs === null ? [] : [inMs]));
  return slots.length === 0 ? null : readAtMs + Math.min(...slots);
}
