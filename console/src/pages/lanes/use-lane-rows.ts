import type { Lane } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { endpointsQuery, HEALTH_REFRESH, lanesQuery, membershipsQuery } from '../../api/queries.ts';
import type { DayTraffic } from '../../api/traffic-stats-queries.ts';
import { useApi } from '../../api/use-api.ts';
import type { FailedCounts } from '../../parts/error-share.tsx';
import { inRankOrder } from '../../parts/rank-order.ts';
import { useLaneFigures } from '../../parts/use-lane-figures.ts';
import type { RankedEndpoint } from './member-health.ts';

/** An endpoint in a lane. */
export interface LaneMember extends RankedEndpoint {
  readonly endpointId: string;
}

/** A lane with its endpoints and its last 24 hours, each undefined while loading and where unknown. */
export interface LaneRow {
  readonly lane: Lane;
  /** By rank. */
  readonly members: readonly LaneMember[] | undefined;
  readonly figures: DayTraffic | undefined;
  readonly failed: FailedCounts | undefined;
}

export function useLaneRows() {
  const lanes = useQuery(lanesQuery(useApi()));
  const membersOf = useMembers();
  const figuresOf = useLaneFigures();
  const rows = useMemo(
    () =>
      lanes.data?.map((lane): LaneRow => {
        const figures = figuresOf(lane.id);
        return { lane, members: membersOf(lane.id), figures, failed: figures && failedOf(figures) };
      }),
    [lanes.data, membersOf, figuresOf],
  );
  return { lanes, rows };
}

function failedOf({ requests, failed }: DayTraffic): FailedCounts {
  return { requests: requests.total ?? 0, failed, rejected: 0, errors: [] };
}

function useMembers(): (laneId: string) => readonly LaneMember[] | undefined {
  const api = useApi();
  const memberships = useQuery(membershipsQuery(api));
  const endpoints = useQuery({ ...endpointsQuery(api), ...HEALTH_REFRESH });
  return useMemo(() => {
    if (memberships.data === undefined || endpoints.data === undefined) return () => undefined;
    const endpointOf = new Map(endpoints.data.map((each) => [each.id, each]));
    const byLane = Map.groupBy(memberships.data, ({ lane_id: laneId }) => laneId);
    return (laneId: string) =>
      inRankOrder(byLane.get(laneId) ?? []).map(({ endpoint_id: endpointId, enabled }) => ({
        endpointId,
        enabled,
        endpoint: endpointOf.get(endpointId),
      }));
  }, [memberships.data, endpoints.data]);
}
