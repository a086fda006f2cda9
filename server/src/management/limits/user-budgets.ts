import { UserLimitPolicyUpsert } from '@relay/contract';
import type { Kysely, Transaction } from 'kysely';
import { ownerCanSend } from '../../store/postgres/policy-tables.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { RowRange } from '../resources/rows.ts';
import { type BudgetKind, type BudgetRow, userBudgetRows } from './budget-rows.ts';
import { unknownSubject } from './change-budget.ts';

export type UserBudgetRow = BudgetRow & { readonly user_id: string };

/** The member limits that a caller may see: of one member, or of all when `userId` is undefined. */
export interface UserBudgetScope {
  readonly organizationId: string;
  readonly userId: string | undefined;
  readonly enabledOnly: boolean;
  /** Only of members who can still send. */
  readonly sendingOnly?: true;
}

/** In creation order. */
export function listUserBudgets(
  db: Kysely<Database>,
  { organizationId, userId, enabledOnly, sendingOnly }: UserBudgetScope,
  { afterId, limit }: RowRange,
): Promise<UserBudgetRow[]> {
  return db
    .selectFrom('user_limit_policies')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? ''))
    .$if(enabledOnly, (query) => query.where('enabled', '=', true))
    .$if(sendingOnly === true, (query) => query.where(ownerCanSend('user', 'user_limit_policies')))
    .$if(afterId !== undefined, (query) => query.where('id', '>', afterId ?? ''))
    .orderBy('id')
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .execute();
}

const names = { kind: 'user', subjectParam: 'user_uuid' } as const;

/** Everything except the member can change. */
export const userBudgets: BudgetKind = {
  ...names,
  noun: 'user_limit_policy',
  rows: userBudgetRows,
  subjectColumn: 'user_id',
  body: UserLimitPolicyUpsert,
  fixed: [],
  async lockSubject(tx: Transaction<Database>, organizationId, userId) {
    const member = await tx
      .selectFrom('organization_members')
      .select('user_id')
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', userId)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (member === undefined) throw unknownSubject(names);
    return {};
  },
};
