import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { dayFiguresQuery } from '../api/usage-queries.ts';
import { useApi } from '../api/use-api.ts';
import { useAccess } from '../session/use-access.ts';

/** The last 24 hours of a lane. */
export interface LaneFigures {
  /** The share of the organization's requests. */
  readonly share: number;
  readonly requests: number;
  readonly waitMsP95: number | null;
  readonly fallbackRate: number | null;
}

/** Null without traffic; undefined while loading or without access. */
export function useLaneFigures(): (laneId: string) => LaneFigures | null | undefined {
  const api = useApi();
  const enabled = useAccess().can('getTimeseries');
  const requests = useQuery({ ...dayFiguresQuery(api, 'lane', 'requests'), enabled });
  const waits = useQuery({ ...dayFiguresQuery(api, 'lane', 'wait_ms_p95'), enabled });
  const fallbacks = useQuery({ ...dayFiguresQuery(api, 'lane', 'fallback_rate'), enabled });
  return useMemo(() => {
    const counts = requests.data?.of;
    if (counts === undefined) return () => undefined;
    const all = [...counts.values()].reduce((sum, { total }) => sum + (total ?? 0), 0);
    return (laneId: string) => {
      const own = counts.get(laneId)?.total ?? 0;
      if (own === 0) return null;
      return {
        requests: own,
        share: own / all,
        waitMsP95: waits.data?.of.get(laneId)?.total ?? null,
        fallbackRate: fallbacks.data?.of.get(laneId)?.total ?? null,
      };
    };
  }, [requests.data, waits.data, fallbacks.data]);
}
