import type { Handlers } from '../../http/call.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { listFound } from '../resources/paging.ts';
import { toUserLimitPolicy } from './user-budget-wire.ts';
import { listUserBudgets, userBudgets } from './user-budgets.ts';
import { visibleOwner } from './visibility.ts';
import { budgetWrites } from './write-budget.ts';

/** Limits of members: each covers all sessions and keys of one member. */
export function userBudgetHandlers(deps: ManagementDeps): Handlers {
  const writes = budgetWrites(deps, userBudgets);
  return {
    async listUserLimitPolicies(call) {
      const { caller } = call;
      const db = deps.ofOrganization(caller.organizationId);
      const scope = {
        organizationId: caller.organizationId,
        userId: visibleOwner(caller),
        enabledOnly: false,
      };
      const rows = await listFound(call, 'listUserLimitPolicies', (range) =>
        listUserBudgets(db, scope, range),
      );
      return { policies: rows.map(toUserLimitPolicy) };
    },
    async upsertUserLimitPolicy(call) {
      const { limit_uuid, user_uuid, ...limit } = call.body;
      return writes.upsert(call, limit_uuid, { ...limit, subjectId: user_uuid });
    },
    async deleteUserLimitPolicy(call) {
      return writes.remove(call, call.query.limit_uuid);
    },
  };
}
