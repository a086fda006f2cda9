import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { timeseriesQuery } from '../../api/usage-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';
import type { TimeRange } from '../../time-range/time-range.ts';
import { type FailingLane, failingLanes } from './failing-lanes.ts';

/** Lanes of which most requests in the range fail. Undefined while loading; none without access and after a failed read. */
export function useFailingLanes({ from, to, bucket }: TimeRange): readonly FailingLane[] | undefined {
  const api = useApi();
  const enabled = useAccess().can('getTimeseries');
  const question = { group_by: 'lane', from, to, bucket } as const;
  const requests = useQuery({ ...timeseriesQuery(api, { metric: 'requests', ...question }), enabled });
  const errors = useQuery({ ...timeseriesQuery(api, { metric: 'errors', ...question }), enabled });
  const isLoading = requests.isLoading || errors.isLoading;
  return useMemo(
    () => (isLoading ? undefined : failingLanes(requests.data?.series ?? [], errors.data?.series ?? [])),
    [isLoading, requests.data, errors.data],
  );
}
