import type { DeletedLimit } from '@relay/contract';
import type { Transaction } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { type BudgetRow, subjectOf } from '../limits/budget-rows.ts';
import { keyBudgets } from '../limits/key-budgets.ts';
import { teamBudgets } from '../limits/team-budgets.ts';
import { userBudgets } from '../limits/user-budgets.ts';
import { dependentsOf } from '../registry/derived.ts';
import { type Taken, takenWith } from '../resources/dependents.ts';
import type { Plan } from './make-plan.ts';

const budgetKinds = [userBudgets, keyBudgets, teamBudgets];

/** What the database deletes along with what the plan deletes: limits of members, keys and teams, which no file lists. */
export async function takenByPlan(
  tx: Transaction<Database>,
  organizationId: string,
  { changes }: Plan,
): Promise<Taken[]> {
  const deleted = changes.filter(({ action }) => action === 'delete');
  const known = new Set(deleted.map(({ id }) => id));
  const taken: Taken[] = [];
  for (const [section, some] of Map.groupBy(deleted, (change) => change.section)) {
    const dependents = dependentsOf(section.table.name);
    const ids = some.map(({ id }) => id);
    taken.push(...(await takenWith(tx, organizationId, dependents, ids)));
  }
  return taken.filter(({ row }) => !known.has(row.id));
}

export function deletedLimits(taken: readonly Taken[]): DeletedLimit[] {
  return taken.flatMap(({ noun, row }) => {
    const kind = budgetKinds.find((each) => each.noun === noun);
    if (kind === undefined) return [];
    const limit = row as BudgetRow;
    return {
      policy_id: limit.id,
      policy_kind: kind.kind,
      subject_id: subjectOf(kind, limit),
      scope_type: limit.target_type,
      scope_id: limit.target_id,
      metric: limit.metric,
      period: limit.period,
      limit: limit.limit_value,
    };
  });
}
