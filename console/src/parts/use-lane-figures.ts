import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { laneFiguresQuery } from '../api/queries.ts';
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
  const requests = useQuery({ ...laneFiguresQuery(api, 'requests'), enabled });
  const waits = useQuery({ ...laneFiguresQuery(api, 'wait_ms_p95'), enabled });
  const fallbacks = useQuery({ ...laneFiguresQuery(api, 'fallback_rate'), enabled });
  return useMemo(() => {
    const counts = requests.data;
    if (counts === undefined) return () => undefined;
    const all = [...counts.values()].reduce<number>((sum, count) => sum + (count ?? 0), 0);
    return (laneId: string) => {
      const own = counts.get(laneId) ?? 0;
      if (own === 0) return null;
      return {
        requests: own,
        share: own / all,
        waitMsP95: waits.data?.get(laneId) ?? null,
        fallbackRate: fallbacks.data?.get(laneId) ?? null,
      };
    };
  }, [requests.data, waits.data, fallbacks.data]);
}
