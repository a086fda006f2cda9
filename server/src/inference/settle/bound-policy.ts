import { describePolicy } from '../../domain/limits/limits.ts';
import type { BoundPolicy } from '../../domain/request-record.ts';
import type { Exchange } from '../exchange.ts';

/** The limit that last made the request wait or rejected it; null when none did. */
export function boundPolicyOf({ decisions, snapshot, caller }: Exchange): BoundPolicy | null {
  if (decisions.bound === null) return null;
  const { policyId, resetsAtMs } = decisions.bound;
  const policy = describePolicy(snapshot, caller, policyId);
  if (policy === null) return null;
  return {
    id: policy.id,
    kind: policy.policy_kind,
    scopeType: policy.scope_type,
    scopeId: policy.scope_id,
    metric: policy.metric,
    period: policy.period,
    resetsAtMs,
  };
}
