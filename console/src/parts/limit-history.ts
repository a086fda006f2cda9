import type { LimitUsage } from '@relay/contract';
import type { HistoryQuestion } from '../api/limit-queries.ts';
import type { Stretch } from './burn-down.ts';
import { metricLooks } from './limit-metrics.ts';

/** Which requests a limit counts, and what of them. */
export interface CountedBy {
  readonly kind: LimitUsage['policy_kind'];
  /** The member, key or team that owns it; null for a shared limit. */
  readonly subjectId: string | null;
  readonly scope: LimitUsage['scope_type'];
  readonly scopeId: string | null;
  readonly metric: LimitUsage['metric'];
}

/** Why the statistics cannot tell what a limit counted; null where they can. */
export function whyNoHistory({
  kind,
  metric,
  scope,
}: Pick<CountedBy, 'kind' | 'metric' | 'scope'>): 'concurrency' | 'credential' | 'team' | null {
  if (metricLooks[metric].series === null) return 'concurrency';
  if (scope === 'credential') return 'credential';
  return kind === 'team' ? 'team' : null;
}

/** The question to the statistics for the requests that the limit counts; null where they cannot tell. */
export function historyQuestionOf(
  limit: CountedBy,
  { startMs, step }: Pick<Stretch, 'startMs' | 'step'>,
): HistoryQuestion | null {
  const { kind, subjectId, scope, scopeId } = limit;
  const { series: metric } = metricLooks[limit.metric];
  if (metric === null || whyNoHistory(limit) !== null) return null;
  const from = new Date(startMs).toISOString();
  const whose =
    subjectId === null ? {} : kind === 'user' ? { user_uuid: subjectId } : { api_key_id: subjectId };
  return { metric, bucket: step, from, ...whose, ...filterOf(scope, scopeId) };
}

function filterOf(scope: CountedBy['scope'], id: string | null): Partial<HistoryQuestion> {
  if (id === null) return {};
  if (scope === 'lane') return { lane_id: id };
  if (scope === 'provider') return { provider_id: id };
  return scope === 'endpoint' || scope === 'model' ? { endpoint_id: id } : {};
}
