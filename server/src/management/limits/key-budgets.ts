import { ApiKeyLimitPolicyUpsert } from '@relay/contract';
import type { Kysely, Transaction } from 'kysely';
import { ownerCanSend } from '../../store/postgres/policy-tables.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { lockKey } from '../api-keys/queries.ts';
import { conflict } from '../resources/refusals.ts';
import type { RowRange } from '../resources/rows.ts';
import { type BudgetKind, type BudgetRow, keyBudgetRows } from './budget-rows.ts';
import { unknownSubject } from './change-budget.ts';

export type KeyBudgetRow = BudgetRow & { readonly api_key_id: string; readonly owner_user_id: string };

/** The key limits that a caller may see: of one owner's keys, or of all keys when `ownerId` is undefined. */
export interface KeyBudgetScope {
  readonly organizationId: string;
  readonly ownerId: string | undefined;
  readonly enabledOnly: boolean;
  /** Only of keys that can still send. */
  readonly sendingOnly?: true;
  /** Left out: of all their keys. */
  readonly keyId?: string;
}

/** In creation order. */
export function listKeyBudgets(
  db: Kysely<Database>,
  { organizationId, ownerId, enabledOnly, sendingOnly, keyId }: KeyBudgetScope,
  { afterId, limit }: RowRange,
): Promise<KeyBudgetRow[]> {
  return db
    .selectFrom('api_key_limit_policies as budget')
    .innerJoin('api_keys as key', (join) =>
      join
        .onRef('key.organization_id', '=', 'budget.organization_id')
        .onRef('key.id', '=', 'budget.api_key_id'),
    )
    .selectAll('budget')
    .select('key.user_id as owner_user_id')
    .where('budget.organization_id', '=', organizationId)
    .$if(ownerId !== undefined, (query) => query.where('key.user_id', '=', ownerId ?? ''))
    .$if(enabledOnly, (query) => query.where('budget.enabled', '=', true))
    .$if(sendingOnly === true, (query) => query.where(ownerCanSend('api_key', 'budget')))
    .$if(keyId !== undefined, (query) => query.where('budget.api_key_id', '=', keyId ?? ''))
    .$if(afterId !== undefined, (query) => query.where('budget.id', '>', afterId ?? ''))
    .orderBy('budget.id')
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .execute();
}

const names = { kind: 'api_key', subjectParam: 'api_key_uuid' } as const;

/** Only the value and `enabled` can change after creation. */
export const keyBudgets: BudgetKind = {
  ...names,
  noun: 'api_key_limit_policy',
  rows: keyBudgetRows,
  subjectColumn: 'api_key_id',
  body: ApiKeyLimitPolicyUpsert,
  fixed: ['target_type', 'target_id', 'metric', 'period'],
  async lockSubject(tx: Transaction<Database>, organizationId, keyId, { forNew }) {
    const key = await lockKey(tx, { organizationId, userId: undefined }, keyId);
    if (key === undefined) throw unknownSubject(names);
    if (!forNew || key.revoked_at === null) return { owner_user_uuid: key.user_id };
    throw conflict(
      'api_key_uuid',
      'This key was revoked, so there is nothing left to limit. Send the ID of an active key.',
    );
  },
};
