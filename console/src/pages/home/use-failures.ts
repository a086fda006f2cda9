import { useQuery } from '@tanstack/react-query';
import { failuresQuery } from '../../api/failures-query.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';
import { rangeBefore, type TimeRange } from '../../time-range/time-range.ts';
import { splitBlocked } from './blocked.ts';
import type { Figure } from './use-home-figures.ts';

/** What failed by cause, and how many guardrails blocked, also in the preceding range. */
export function useFailures(range: TimeRange) {
  const api = useApi();
  const enabled = useAccess().can('getFailures');
  const now = useQuery({ ...failuresQuery(api, range), enabled });
  const before = useQuery({
    ...failuresQuery(api, { ...rangeBefore(range), bucket: range.bucket }),
    enabled,
  });
  const { failures, blocked } = splitBlocked(now.data);
  return {
    failures,
    blocked: { now: blocked, before: splitBlocked(before.data).blocked },
    areFailuresLoading: now.isLoading || before.isLoading,
  };
}

/** What failed, without what guardrails blocked. */
export function troubleOf(failed: Figure, blocked: ReturnType<typeof useFailures>['blocked']) {
  return {
    value: Math.max(0, failed.value - blocked.now),
    before: Math.max(0, failed.before - blocked.before),
  };
}
