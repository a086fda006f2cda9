import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type DayFigure, dayFiguresQuery, figureIn } from '../api/usage-queries.ts';
import { useApi } from '../api/use-api.ts';
import { useAccess } from '../session/use-access.ts';

/** The last 24 hours of a lane. */
export interface LaneFigures {
  readonly requests: DayFigure;
  /** Null without requests. */
  readonly waitMsP95: number | null;
  readonly fallbackRate: number | null;
}

const REFRESH_MS = 60_000;

/**
 * The figures by lane ID; the empty string stands for requests without a lane. Undefined while loading, without access and where unknown.
 * `isStill` stops reading them again.
 */
export function useLaneFigures(isStill = false): (laneId: string) => LaneFigures | undefined {
  const api = useApi();
  const enabled = useAccess().can('getTimeseries');
  const often = { enabled, refetchInterval: isStill ? false : REFRESH_MS } as const;
  const requests = useQuery({ ...dayFiguresQuery(api, 'lane', 'requests'), ...often });
  const waits = useQuery({ ...dayFiguresQuery(api, 'lane', 'wait_ms_p95'), ...often });
  const fallbacks = useQuery({ ...dayFiguresQuery(api, 'lane', 'fallback_rate'), ...often });
  return useMemo(
    () => (laneId: string) => {
      const own = figureIn(requests.data, laneId);
      return (
        own && {
          requests: own,
          waitMsP95: waits.data?.of.get(laneId)?.total ?? null,
          fallbackRate: fallbacks.data?.of.get(laneId)?.total ?? null,
        }
      );
    },
    [requests.data, waits.data, fallbacks.data],
  );
}
