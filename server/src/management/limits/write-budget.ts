import { headers } from '@relay/contract';
import type { Transaction } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { entityTag } from '../resources/entity-tag.ts';
import { recorded, type WriteDeps, writeConfiguration } from '../resources/write-configuration.ts';
import type { WriteCall } from '../resources/write-resource.ts';
import { type BudgetKind, subjectOf } from './budget-rows.ts';
import { type Change, createBudget, removeBudget, updateBudget, type WantedBudget } from './change-budget.ts';

/** The response of every write. Clients find the id in the list. */
type Done = { readonly ok: true };

export interface BudgetWrites {
  /** Updates the limit with this id; creates one when it is undefined. */
  upsert(call: WriteCall, limitId: string | undefined, wanted: WantedBudget): Promise<Done>;
  remove(call: WriteCall, limitId: string): Promise<Done>;
}

export function budgetWrites(deps: WriteDeps, kind: BudgetKind): BudgetWrites {
  const { rows, noun } = kind;

  async function write(
    call: WriteCall,
    change: (tx: Transaction<Database>) => Promise<Change>,
  ): Promise<Done> {
    const after = await writeConfiguration(deps, call, 'shared', async (tx) => {
      const changed = await change(tx);
      const row = changed.after ?? changed.before;
      if (row === null) throw new RelayError('internal_error', { internal: `${noun} changed nothing` });
      const { before, after: left } = changed;
      return {
        result: left,
        changes: before === left ? [] : [recorded({ noun, table: rows.table }, before, left)],
        // Gateways cache the limits of a key with the key, and all others with the configuration.
        keyIds: kind.kind === 'api_key' ? [subjectOf(kind, row)] : [],
      };
    });
    if (after !== null) call.setHeader(headers.etag, entityTag(after));
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
