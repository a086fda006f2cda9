import type { Schema } from '@relay/contract';
import { sql, type Transaction } from 'kysely';
import type { BudgetPolicy } from '../../domain/snapshot.ts';
import { type Database, tables } from '../../store/postgres/schema.ts';
import { type OwnedRows, ownedRows, type RowOf, type Table } from '../resources/rows.ts';

/**
 * Member, key and team limits are in three tables that differ only in the owner's column. This code uses the
 * columns that all have; `BudgetKind` names the owner's column.
 */
type BudgetColumns = Omit<typeof tables.user_limit_policies, 'user_id'>;
export type BudgetRow = RowOf<BudgetColumns>;

/** The differences between member, key and team limits. */
export interface BudgetKind {
  readonly kind: BudgetPolicy['kind'];
  /** The name in the audit log and in errors. */
  readonly noun: 'user_limit_policy' | 'api_key_limit_policy' | 'team_limit_policy';
  readonly rows: OwnedRows<BudgetColumns>;
  readonly subjectColumn: 'user_id' | 'api_key_id' | 'team_id';
  readonly subjectParam: 'user_uuid' | 'api_key_uuid' | 'team_uuid';
  /** The body of the upsert. */
  readonly body: Schema;
  /**
   * Locks the owner of the limit until commit, so that it is not deleted and gets no concurrent limits. Rejects
   * a missing owner, and with `forNew` an owner who cannot get another limit. Returns what the list says of the owner.
   */
  readonly lockSubject: (
    tx: Transaction<Database>,
    organizationId: string,
    subjectId: string,
    { forNew }: { readonly forNew: boolean },
  ) => Promise<object>;
  /** Fields that cannot change after creation. The value and `enabled` can always change. */
  readonly fixed: readonly ('target_type' | 'target_id' | 'metric' | 'period')[];
}

const userTable: Table<BudgetColumns> = { name: 'user_limit_policies', columns: tables.user_limit_policies };
const keyTable: Table<BudgetColumns> = {
  name: 'api_key_limit_policies',
  columns: tables.api_key_limit_policies,
};
const teamTable: Table<BudgetColumns> = { name: 'team_limit_policies', columns: tables.team_limit_policies };
export const userBudgetRows = ownedRows(userTable);
export const keyBudgetRows = ownedRows(keyTable);
export const teamBudgetRows = ownedRows(teamTable);

export function subjectOf({ subjectColumn }: BudgetKind, row: BudgetRow): string {
  return String(Object.entries(row).find(([column]) => column === subjectColumn)?.[1] ?? '');
}

/** The limit as the domain's limit rules expect it. */
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
    unpriced: row.unpriced,
    enforcement: row.enforcement,
    counter: row.counter,
  };
}

/** Another limit of the same owner, target, metric and period. There may be only one. */
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
