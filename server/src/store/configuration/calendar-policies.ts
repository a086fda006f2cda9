import { type Kysely, sql } from 'kysely';
import { type AppliedLimit, budgetLimit, resourceLimit } from '../../domain/limits/limit.ts';
import type { BudgetPolicy, LimitPolicy } from '../../domain/snapshot.ts';
import type { Database } from '../postgres/schema.ts';

/** A place in the list of all policies, which is in the order of organizations and ids. */
export interface PolicyPlace {
  readonly organizationId: string;
  readonly policyId: string;
}

export interface OwnedLimit {
  readonly place: PolicyPlace;
  readonly limit: AppliedLimit;
}

interface PolicyRow extends Pick<LimitPolicy, 'id' | 'metric' | 'period' | 'limitValue'> {
  readonly organizationId: string;
  readonly kind: 'resource' | BudgetPolicy['kind'];
  readonly subjectId: string | null;
  readonly scopeType: LimitPolicy['scopeType'] | BudgetPolicy['targetType'];
  readonly scopeId: string | null;
}

/** Limits in force over windows of the calendar, of whatever organization, the next so many after a place. */
export async function readCalendarPolicies(
  db: Kysely<Database>,
  after: PolicyPlace,
  max: number,
): Promise<OwnedLimit[]> {
  // Each branch follows its primary key and stops by itself; together they are a few rows to sort.
  const branch = (table: string, kind: PolicyRow['kind'], subject: string | null, scope: string) => sql`
    (select organization_id as "organizationId", id, ${sql.lit(kind)} as kind,
      ${subject === null ? sql`null::uuid` : sql.ref(subject)} as "subjectId",
      ${sql.ref(`${scope}_type`)} as "scopeType", ${sql.ref(`${scope}_id`)} as "scopeId",
      metric, period, limit_value as "limitValue"
    from ${sql.table(table)}
    where (organization_id, id) > (${after.organizationId}::uuid, ${after.policyId}::uuid)
      and enabled and period in ('hour', 'day', 'month')
    order by organization_id, id limit ${sql.lit(max)})`;
  const { rows } = await sql<PolicyRow>`
    ${branch('limit_policies', 'resource', null, 'scope')}
    union all ${branch('user_limit_policies', 'user', 'user_id', 'target')}
    union all ${branch('api_key_limit_policies', 'api_key', 'api_key_id', 'target')}
    order by "organizationId", id limit ${sql.lit(max)}`.execute(db);
  return rows.map((row) => ({
    place: { organizationId: row.organizationId, policyId: row.id },
    limit: limitOf(row),
  }));
}

function limitOf(row: PolicyRow): AppliedLimit {
  const { id, metric, period, limitValue, kind, subjectId } = row;
  if (kind === 'resource' || subjectId === null) {
    const scopeType = row.scopeType as LimitPolicy['scopeType'];
    const policy = { id, metric, period, limitValue, scopeType, scopeId: row.scopeId, enabled: true };
    return resourceLimit(policy).applied;
  }
  const targetType = row.scopeType as BudgetPolicy['targetType'];
  const budget = { id, kind, subjectId, metric, period, limitValue, targetType, targetId: row.scopeId };
  return budgetLimit(budget).applied;
}
