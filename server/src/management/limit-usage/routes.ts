import type { PolicyUsage } from '../../admission/engine.ts';
import { appliedLimit } from '../../domain/limits.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { LimitPolicy } from '../../domain/snapshot.ts';
import type { Handlers } from '../../http/call.ts';
import type { ManagementDeps } from '../deps.ts';
import { listItems } from '../paging.ts';
import { toLimitUsage } from './wire.ts';

type UsageDeps = Pick<ManagementDeps, 'snapshots' | 'clock' | 'limitUsage'>;

/** The policies in force come from the snapshot: it is what this process holds requests to. */
export function limitUsageHandlers(deps: UsageDeps): Handlers {
  return {
    async listLimitUsage(call) {
      // Resource policies are shared; a caller who may see only its own traffic does not see them.
      if (!call.caller.scopes.has('relay:limits:read:organization')) return [];
      const { organizationId } = call.caller;
      const snapshot = deps.snapshots.get(organizationId) ?? (await deps.snapshots.load(organizationId));
      const policies = listItems(call, 'listLimitUsage', snapshot.limitPolicies);
      const usages = await readUsage(deps, organizationId, policies);
      const nowMs = deps.clock.nowMs();
      return policies.map((policy) => {
        const usage = usages.get(policy.id);
        if (usage !== undefined) return toLimitUsage(policy, usage, nowMs);
        throw new RelayError('internal_error', { internal: `no usage was answered for ${policy.id}` });
      });
    },
  };
}

async function readUsage(
  deps: UsageDeps,
  organizationId: string,
  policies: readonly LimitPolicy[],
): Promise<Map<string, PolicyUsage>> {
  if (policies.length === 0) return new Map();
  try {
    const usages = await deps.limitUsage(organizationId, policies.map(appliedLimit));
    return new Map(usages.map((usage) => [usage.policyId, usage]));
  } catch (error) {
    if (!(error instanceof RelayError && error.code === 'store_unavailable')) throw error;
    // It is not the database that is away, so the error must not say so.
    throw new RelayError('policy_unavailable', {
      message: 'The live state of limits cannot be read right now. Retry shortly.',
      internal: error.detail.internal ?? error.message,
      cause: error,
    });
  }
}
