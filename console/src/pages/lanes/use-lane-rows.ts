import type { Lane } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { endpointsQuery, HEALTH_REFRESH, lanesQuery, membershipsQuery } from '../../api/queries.ts';
import { type DayFigure, dayFiguresQuery, figureIn, spentIn } from '../../api/usage-queries.ts';
import { useApi } from '../../api/use-api.ts';
import type { FailedCounts } from '../../parts/error-share.tsx';
import { inRankOrder } from '../../parts/rank-order.ts';
import { type LaneFigures, useLaneFigures } from '../../parts/use-lane-figures.ts';
import { useAccess } from '../../session/use-access.ts';
import type { RankedEndpoint } from './member-health.ts';

const REFRESH_MS = 60_000;

/** An endpoint in a lane. */
export interface LaneMember extends RankedEndpoint {
  readonly endpointId: string;
}

/** A lane with its endpoints and its last 24 hours, each undefined while loading and where unknown. */
export interface LaneRow {
  readonly lane: Lane;
  /** By rank. */
  readonly members: readonly LaneMember[] | undefined;
  readonly figures: LaneFigures | undefined;
  readonly failed: FailedCounts | undefined;
  readonly spend: DayFigure | undefined;
}

/** Each metric is read for all lanes together. */
export function useLaneRows() {
  const api = useApi();
  const enabled = useAccess().can('getTimeseries');
  const often = { enabled, refetchInterval: REFRESH_MS } as const;
  const lanes = useQuery(lanesQuery(api));
  const membersOf = useMembers();
  const figuresOf = useLaneFigures();
  const failures = useQuery({ ...dayFiguresQuery(api, 'lane', 'errors'), ...often });
  const spend = useQuery({ ...dayFiguresQuery(api, 'lane', 'cost_micros'), ...often });
  const rows = useMemo(
    () =>
      lanes.data?.map((lane): LaneRow => {
        const figures = figuresOf(lane.id);
        return {
          lane,
          members: membersOf(lane.id),
          figures,
          failed: failedOf(figures?.requests, figureIn(failures.data, lane.id)),
          spend: spentIn(figureIn(spend.data, lane.id), figures?.requests),
        };
      }),
    [lanes.data, membersOf, figuresOf, failures.data, spend.data],
  );
  return { lanes, rows };
}

function failedOf(requests: DayFigure | undefined, failed: DayFigure | undefined): FailedCounts | undefined {
  if (requests === undefined || failed === undefined) return undefined;
  return { requests: requests.total ?? 0, failed: failed.total ?? 0, rejected: 0, errors: [] };
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
