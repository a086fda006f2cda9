import type { Transaction } from 'kysely';
import type { BudgetPolicy } from '../../domain/snapshot.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { type OwnedRows, ownedRows, type Row } from '../owned-rows.ts';

/**
 * Budgets of members and of keys lie in two tables that differ in one column: whose budget it is. What both share is
 * written once, for the shape of the first, and names that column by its kind.
 */
export type BudgetRow = Omit<Row<'user_limit_policies'>, 'user_id'>;

/** What tells the two kinds apart. */
export interface BudgetKind {
  readonly kind: BudgetPolicy['kind'];
  /** As the audit log and refusals call it. */
  readonly noun: 'user_limit_policy' | 'api_key_limit_policy';
  readonly rows: OwnedRows<'user_limit_policies'>;
  readonly subjectColumn: 'user_id' | 'api_key_id';
  readonly subjectParam: 'user_uuid' | 'api_key_uuid';
  /**
   * Keeps whose budget it is from going away and others from writing budgets of the same, until commit. Refuses
   * somebody who is not there, and with `forNew` somebody who cannot get another budget.
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

export const userBudgetRows = ownedRows('user_limit_policies');
export const keyBudgetRows = ownedRows('api_key_limit_policies') as unknown as typeof userBudgetRows;

export function subjectOf({ subjectColumn }: BudgetKind, row: BudgetRow): string {
  return (row as unknown as Record<string, string>)[subjectColumn] ?? '';
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
  const found = await tx
    .selectFrom(kind.rows.table)
    .select('id')
    .where('organization_id', '=', organizationId)
    .where(kind.subjectColumn as 'user_id', '=', subjectId)
    .where('target_type', '=', wanted.target_type)
    .where('target_id', 'is not distinct from', wanted.target_id)
    .where('metric', '=', wanted.metric)
    .where('period', '=', wanted.period)
    .where('id', '!=', wanted.id)
    .executeTakeFirst();
  return found?.id;
}
