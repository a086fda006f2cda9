import { sql, type Transaction } from 'kysely';
import type { BudgetPolicy } from '../../domain/snapshot.ts';
import { type Database, tables } from '../../store/postgres/schema.ts';
import { type OwnedRows, ownedRows, type RowOf, type Table } from '../resources/rows.ts';

/**
 * Budgets of members and of keys lie in two tables that differ in one column: whose budget it is. What both share is
 * written once, over the columns that both have, and names that column by its kind.
 */
type BudgetColumns = Omit<typeof tables.user_limit_policies, 'user_id'>;
export type BudgetRow = RowOf<BudgetColumns>;

/** What tells the two kinds apart. */
export interface BudgetKind {
  readonly kind: BudgetPolicy['kind'];
  /** As the audit log and refusals call it. */
  readonly noun: 'user_limit_policy' | 'api_key_limit_policy';
  readonly rows: OwnedRows<BudgetColumns>;
  readonly subjectColumn: 'user_id' | 'api_key_id';
  readonly subjectParam: 'user_uuid' | 'api_key_uuid';
  /**
   * Locks the owner of the budget until commit, so that it is not deleted and gets no concurrent budgets. Rejects
   * a missing owner, and with `forNew` an owner who cannot get another budget.
   */
  readonly lockSubject: (
    tx: Transaction<Database>,
    organizationId: string,
    subjectId: string,
    { forNew }: { readonly forNew: boolean },
  ) => Promise<void>;
  /** What of a budget stays as it was made; its value and whether it is enabled may always change. */
  readonly fixed: readonly ('target_type' | 'target_id' | 'metric' | 'period')[];
}

const userTable: Table<BudgetColumns> = { name: 'user_limit_policies', columns: tables.user_limit_policies };
const keyTable: Table<BudgetColumns> = {
  name: 'api_key_limit_policies',
  columns: tables.api_key_limit_policies,
};
export const userBudgetRows = ownedRows(userTable);
export const keyBudgetRows = ownedRows(keyTable);

export function subjectOf({ subjectColumn }: BudgetKind, row: BudgetRow): string {
  return String(Object.entries(row).find(([column]) => column === subjectColumn)?.[1] ?? '');
}

/** A budget in the terms of the rules that decide what it limits. */
export function toBudgetPolicy(kind: BudgetPolicy['kind'], subjectId: string, row: BudgetRow): BudgetPolicy {
  return {
    id: row.id,
    kind,
    subjectId,
    targetType: row.target_type,
    targetId: row.target_id,
    metric: row.metric,
    period: row.period,
    limitValue: row.limit_value,
  };
}

/** The other budget of the same subject on the same target over the same window: there is at most one. */
export async function findTwin(
  tx: Transaction<Database>,
  kind: BudgetKind,
  organizationId: string,
  subjectId: string,
  wanted: Pick<BudgetRow, 'id' | 'target_type' | 'target_id' | 'metric' | 'period'>,
): Promise<string | undefined> {
  const found = await sql<{ id: string }>`
    select id from ${sql.table(kind.rows.table.name)}
    where organization_id = ${organizationId} and ${sql.id(kind.subjectColumn)} = ${subjectId}
      and target_type = ${wanted.target_type} and target_id is not distinct from ${wanted.target_id}
      and metric = ${wanted.metric} and period = ${wanted.period} and id != ${wanted.id}
    limit 1`.execute(tx);
  return found.rows[0]?.id;
}
