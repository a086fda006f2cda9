import type { LimitUsage } from '@relay/contract';
import type { PolicyUsage } from '../../admission/engine.ts';
import type { Limit } from '../../domain/limits/limit.ts';

/** `resets_at` is null when nothing resets: for concurrency, and for an unused short window. */
export function toLimitUsage({ described }: Limit, usage: PolicyUsage, nowMs: number): LimitUsage {
  const { used, reserved, resetMs } = usage;
  return {
    policy_id: described.id,
    policy_kind: described.policy_kind,
    scope_type: described.scope_type,
    scope_id: described.scope_id,
    metric: described.metric,
    period: described.period,
    limit: described.limit_value,
    used,
    reserved,
    // Usage can exceed the limit: actual usage may exceed its estimate, or the limit was lowered.
    remaining: Math.max(0, described.limit_value - used - reserved),
    resets_at: resetMs > 0 ? new Date(nowMs + resetMs).toISOString() : null,
  };
}
