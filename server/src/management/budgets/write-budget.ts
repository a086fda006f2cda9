import { headers } from '@relay/contract';
import type { Transaction } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import { changeAccess } from '../../store/configuration/config-version.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { appendAudit, auditedRow } from '../audit.ts';
import type { ManagementDeps } from '../deps.ts';
import { entityTag } from '../entity-tag.ts';
import type { WriteCall } from '../write-resource.ts';
import { type BudgetKind, subjectOf } from './budget-rows.ts';
import { type Change, createBudget, removeBudget, updateBudget, type WantedBudget } from './change-budget.ts';

type WriteDeps = Pick<ManagementDeps, 'ofOrganization' | 'snapshots' | 'newId'>;

/** What every write of a budget answers: its id is learned from the list. */
type Done = { readonly ok: true };

export interface BudgetWrites {
  /** With the id of a budget an update, without it a new one. */
  upsert(call: WriteCall, limitId: string | undefined, wanted: WantedBudget): Promise<Done>;
  remove(call: WriteCall, limitId: string): Promise<Done>;
}

/**
 * The one way a budget changes: the row, its audit entry and the version that tells gateways commit together or not
 * at all.
 */
export function budgetWrites(deps: WriteDeps, kind: BudgetKind): BudgetWrites {
  const { rows, noun } = kind;

  async function write(
    call: WriteCall,
    change: (tx: Transaction<Database>) => Promise<Change>,
  ): Promise<Done> {
    const { organizationId } = call.caller;
    const db = deps.ofOrganization(organizationId);
    const { result } = await changeAccess(db, organizationId, async (tx) => {
      const changed = await change(tx);
      const row = changed.after ?? changed.before;
      if (row === null) throw new RelayError('internal_error', { internal: `${noun} changed nothing` });
      await appendAudit(tx, {
        id: deps.newId(),
        caller: call.caller,
        requestId: call.requestId,
        action: `${noun}.${changed.verb}`,
        targetType: noun,
        targetId: row.id,
        before: changed.before && auditedRow(rows.table, changed.before),
        after: changed.after && auditedRow(rows.table, changed.after),
      });
      // Gateways hold the budgets of a key with the key, and those of members with the configuration.
      return { result: changed, keyIds: kind.kind === 'api_key' ? [subjectOf(kind, row)] : [] };
    });
    await deps.snapshots.refreshNow(organizationId);
    if (result.after !== null) call.setHeader(headers.etag, entityTag(result.after));
    return { ok: true };
  }

  return {
    upsert(call, limitId, wanted) {
      if (limitId !== undefined) return write(call, (tx) => updateBudget(tx, kind, call, limitId, wanted));
      return write(call, (tx) => createBudget(tx, kind, call, deps.newId(), wanted));
    },
    remove: (call, limitId) => write(call, (tx) => removeBudget(tx, kind, call, limitId)),
  };
}
