import { demandAccounts } from '../../domain/accounts.ts';
import type { Handlers } from '../../http/call.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { listFound } from '../resources/paging.ts';
import { invalidField } from '../resources/refusals.ts';
import { toApiKeyLimitPolicy } from './key-budget-wire.ts';
import { keyBudgets, listKeyBudgets } from './key-budgets.ts';
import { visibleOwner } from './visibility.ts';
import { budgetWrites } from './write-budget.ts';

/** Budgets of keys: each covers exactly one key. A replacement is another key and begins without any. */
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
      demandAccounts(deps.deployment);
      const { limit_uuid, api_key_uuid, ...limit } = call.body;
      demandPublicId(api_key_uuid);
      return writes.upsert(call, limit_uuid, { ...limit, subjectId: api_key_uuid });
    },
    async deleteApiKeyLimitPolicy(call) {
      demandAccounts(deps.deployment);
      return writes.remove(call, call.query.limit_uuid);
    },
  };
}

/** A policy names a key by its id. What looks like the key itself is refused, and not repeated in the refusal. */
function demandPublicId(id: string): void {
  if (!id.includes('rly_')) return;
  throw invalidField(
    'api_key_uuid',
    'api_key_uuid must be the id of the key, as GET /api/account/api-keys lists it, never the key itself. If what was sent is a whole key, revoke it and create another: it has been where no secret belongs.',
  );
}
