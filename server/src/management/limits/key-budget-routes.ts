import type { Handlers } from '../../http/call.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { listFound } from '../resources/paging.ts';
import { invalidField } from '../resources/refusals.ts';
import { toApiKeyLimitPolicy } from './key-budget-wire.ts';
import { keyBudgets, listKeyBudgets } from './key-budgets.ts';
import { visibleOwner } from './visibility.ts';
import { budgetWrites } from './write-budget.ts';

/** Limits of keys: each covers exactly one key. A key that replaces another starts without limits. */
export function keyBudgetHandlers(deps: ManagementDeps): Handlers {
  const writes = budgetWrites(deps, keyBudgets);
  return {
    async listApiKeyLimitPolicies(call) {
      const { caller } = call;
      const db = deps.ofOrganization(caller.organizationId);
      const scope = {
        organizationId: caller.organizationId,
        ownerId: visibleOwner(caller),
        enabledOnly: false,
      };
      const rows = await listFound(call, 'listApiKeyLimitPolicies', (range) =>
        listKeyBudgets(db, scope, range),
      );
      return { policies: rows.map(toApiKeyLimitPolicy) };
    },
    async upsertApiKeyLimitPolicy(call) {
      const { limit_uuid, api_key_uuid, ...limit } = call.body;
      demandPublicId(api_key_uuid);
      return writes.upsert(call, limit_uuid, { ...limit, subjectId: api_key_uuid });
    },
    async deleteApiKeyLimitPolicy(call) {
      return writes.remove(call, call.query.limit_uuid);
    },
  };
}

/** Rejects a body that has the key itself instead of its id, without repeating the key in the error. */
function demandPublicId(id: string): void {
  if (!id.includes('rly_')) return;
  throw invalidField(
    'api_key_uuid',
    'api_key_uuid must be the key’s ID, as GET /api/account/api-keys lists it, never the key itself. If you sent a full key, revoke it and create another: it may have been exposed.',
  );
}
