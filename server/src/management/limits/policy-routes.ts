import type { LimitPolicyCreate, LimitPolicyUpdate } from '@relay/contract';
import { RelayError } from '../../domain/relay-error.ts';
import type { Handlers } from '../../http/call.ts';
import type { tables } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import type { ResourceWrites } from '../resources/write-resource.ts';
import { demandEnforcement } from './enforcement.ts';
import { alertColumns } from './limit-alerts.ts';
import { demandWindow } from './limit-window.ts';
import { toLimitPolicy } from './policy-wire.ts';
import { heldScope } from './scope.ts';

/** Resource limit policies are for self-hosted deployments; hosted ones have user and key budgets instead. */
export function limitPolicyHandlers(
  deps: ManagementDeps,
  writes: ResourceWrites<typeof tables.limit_policies>,
): Handlers {
  function demandSelfHosted(): void {
    if (deps.deployment.mode !== 'hosted') return;
    throw new RelayError('mode_unsupported', {
      message: 'Shared limits are for self-hosted deployments. Use member, team or key limits instead.',
    });
  }

  return {
    async listLimitPolicies(call) {
      demandSelfHosted();
      return (await writes.list(call, 'listLimitPolicies')).map(toLimitPolicy);
    },
    async getLimitPolicy(call) {
      demandSelfHosted();
      return toLimitPolicy(await writes.read(call, call.params.policy_id));
    },
    async createLimitPolicy(call) {
      demandSelfHosted();
      const { body } = call;
      demandWindow(body);
      demandEnforcement(body);
      const row = await writes.create(call, async ({ tx, organizationId }, id) => {
        const scope = await heldScope(tx, organizationId, {
          scope_type: body.scope_type,
          scope_id: body.scope_id ?? null,
        });
        const inserted = await writes.rows.insert(tx, organizationId, {
          id,
          ...scope,
          ...limitOf(body),
        });
        if (inserted !== undefined) return inserted;
        // Only the id is unique, and it is new: limits have no name and may repeat.
        throw new RelayError('internal_error', { internal: `limit policy ${id} already exists` });
      });
      return toLimitPolicy(row);
    },
    async updateLimitPolicy(call) {
      demandSelfHosted();
      const { body } = call;
      demandWindow(body);
      const row = await writes.update(call, call.params.policy_id, async ({ tx, organizationId }, before) => {
        demandEnforcement(body, before);
        // An omitted id keeps the scope, unless its type changes: the old id then belongs to another kind of
        // resource.
        const keptId = body.scope_type === before.scope_type ? before.scope_id : null;
        const scope = await heldScope(tx, organizationId, {
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
    unpriced: body.unpriced,
    enforcement: body.enforcement,
    enabled: body.enabled,
    ...alertColumns(body),
  };
}
