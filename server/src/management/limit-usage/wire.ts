import type { LimitUsage } from '@relay/contract';
import type { PolicyUsage } from '../../admission/engine.ts';
import type { LimitPolicy } from '../../domain/snapshot.ts';

/** `resets_at` is null when there is nothing to reset: for concurrency, and for a short window that is whole. */
export function toLimitUsage(policy: LimitPolicy, usage: PolicyUsage, nowMs: number): LimitUsage {
  const { used, reserved, resetMs } = usage;
  return {
    policy_id: policy.id,
    policy_kind: 'resource',
    scope_type: policy.scopeType,
    scope_id: policy.scopeId,
    metric: policy.metric,
    period: policy.period,
    limit: policy.limitValue,
    used,
    reserved,
    // Actual use may have exceeded its estimate, and a limit may have been lowered under what is used.
    remaining: Math.max(0, policy.limitValue - used - reserved),
    resets_at: resetMs > 0 ? new Date(nowMs + resetMs).toISOString() : null,
  };
}
