import type { LimitPolicyCreate, LimitPolicyUpdate } from '@relay/contract';
import { RelayError } from '../../domain/relay-error.ts';
import type { Handlers } from '../../http/call.ts';
import { demandWindow } from '../budgets/limit-window.ts';
import type { ManagementDeps } from '../deps.ts';
import { listRows } from '../paging.ts';
import { resourceWrites } from '../write-resource.ts';
import { limitPolicyRows } from './queries.ts';
import { heldScope } from './scope.ts';
import { toLimitPolicy } from './wire.ts';

/** Resource limit policies are for self-hosted deployments; hosted ones have user and key budgets instead. */
export function limitPolicyHandlers(deps: ManagementDeps): Handlers {
  const writes = resourceWrites(deps, limitPolicyRows, 'limit_policy');

  function demandSelfHosted(): void {
    if (deps.deployment.mode !== 'hosted') return;
    throw new RelayError('mode_unsupported', {
      message:
        'Resource limit policies are for self-hosted deployments. Use budgets of users and of API keys instead.',
    });
  }

  return {
    async listLimitPolicies(call) {
      demandSelfHosted();
      return (await listRows(deps, call, 'listLimitPolicies', limitPolicyRows)).map(toLimitPolicy);
    },
    async createLimitPolicy(call) {
      demandSelfHosted();
      const { body, caller } = call;
      demandWindow(body);
      const row = await writes.create(call, async (tx, id) => {
        const scope = await heldScope(tx, caller.organizationId, {
          scope_type: body.scope_type,
          scope_id: body.scope_id ?? null,
        });
        const inserted = await limitPolicyRows.insert(tx, caller.organizationId, {
          id,
          ...scope,
          ...limitOf(body),
        });
        if (inserted !== undefined) return inserted;
        // Policies have no name and may repeat one another; only the id is unique, and it is new.
        throw new RelayError('internal_error', { internal: `limit policy ${id} exists already` });
      });
      return toLimitPolicy(row);
    },
    async updateLimitPolicy(call) {
      demandSelfHosted();
      const { body, caller } = call;
      demandWindow(body);
      const row = await writes.update(call, call.params.policy_id, async (tx, before) => {
        // Left out, the scope stays what it was; the id of another kind of resource cannot be meant.
        const keptId = body.scope_type === before.scope_type ? before.scope_id : null;
        const scope = await heldScope(tx, caller.organizationId, {
          scope_type: body.scope_type,
          scope_id: body.scope_id === undefined ? keptId : body.scope_id,
        });
        return { ...scope, ...limitOf(body) };
      });
      return toLimitPolicy(row);
    },
    async deleteLimitPolicy(call) {
      demandSelfHosted();
      return writes.remove(call, call.params.policy_id);
    },
  };
}

function limitOf(body: LimitPolicyCreate | LimitPolicyUpdate) {
  return {
    metric: body.metric,
    period: body.period,
    limit_value: body.limit_value,
    enabled: body.enabled,
  };
}
