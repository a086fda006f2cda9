import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type DayTraffic, dayIn, laneStatsQuery } from '../api/traffic-stats-queries.ts';
import { useApi } from '../api/use-api.ts';
import { useAccess } from '../session/use-access.ts';

const REFRESH_MS = 60_000;

/**
 * The last 24 hours by lane ID; the empty string stands for requests without a lane. Undefined while loading, without access and where
 * unknown. `isStill` stops reading them again.
 */
export function useLaneFigures(isStill = false): (laneId: string) => DayTraffic | undefined {
  const { data } = useQuery({
    ...laneStatsQuery(useApi()),
    enabled: useAccess().can('getLaneStats'),
    refetchInterval: isStill ? false : REFRESH_MS,
  });
  return useMemo(() => (laneId: string) => dayIn(data, laneId), [data]);
}
