import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type AppliedLimit, budgetLimit, resourceLimit } from '../../domain/limits/limit.ts';
import type { BudgetPolicy, LimitPolicy } from '../../domain/snapshot.ts';
import type { Database } from '../postgres/schema.ts';

/** A position in the list of all limits, ordered by organization and id. */
export interface PolicyPlace {
  readonly organizationId: string;
  readonly policyId: string;
}

export interface OwnedLimit {
  readonly place: PolicyPlace;
  readonly limit: AppliedLimit;
}

interface ListedPolicy extends Pick<LimitPolicy, 'id' | 'metric' | 'period' | 'limitValue' | 'counter'> {
  readonly organizationId: string;
  readonly scopeId: string | null;
}

interface ResourceRow extends ListedPolicy {
  readonly kind: 'resource';
  readonly scopeType: LimitPolicy['scopeType'];
}

interface BudgetRow extends ListedPolicy {
  readonly kind: BudgetPolicy['kind'];
  readonly subjectId: string;
  readonly scopeType: BudgetPolicy['targetType'];
}

type PolicyRow = ResourceRow | BudgetRow;

/** The next enabled limits with calendar windows after a position, over all organizations. */
export function readCalendarPolicies(
  db: Kysely<Database>,
  after: PolicyPlace,
  max: number,
): Promise<OwnedLimit[]> {
  // Each branch follows its primary key and stops at the limit, so only a few rows are sorted.
  const place = sql`(organization_id, id)`;
  const behind = sql`${place} > (${after.organizationId}::uuid, ${after.policyId}::uuid)`;
  return readPolicies(db, behind, sql`organization_id, id`, max);
}

/** Enabled limits with calendar windows whose counters are not older than that, the newest first if there are more. */
export function readNewCounters(db: Kysely<Database>, ageMsMax: number, max: number): Promise<OwnedLimit[]> {
  const since = sql`now() - make_interval(secs => ${ageMsMax / 1_000})`;
  return readPolicies(db, sql`counted_from > ${since}`, sql`counted_from desc`, max);
}

/** In order of their positions. */
async function readPolicies(
  db: Kysely<Database>,
  condition: RawBuilder<unknown>,
  first: RawBuilder<unknown>,
  max: number,
): Promise<OwnedLimit[]> {
  const branch = (table: string, kind: PolicyRow['kind'], subject: string | null, scope: string) => sql`
    (select organization_id as "organizationId", id, ${sql.lit(kind)} as kind,
      ${subject === null ? sql`null::uuid` : sql.ref(subject)} as "subjectId",
      ${sql.ref(`${scope}_type`)} as "scopeType", ${sql.ref(`${scope}_id`)} as "scopeId",
      metric, period, limit_value as "limitValue", counter
    from ${sql.table(table)}
    where ${condition} and enabled and period in ('hour', 'day', 'month')
    order by ${first} limit ${sql.lit(max)})`;
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
  const { id, metric, period, limitValue, counter = 0, scopeId } = row;
  if (row.kind === 'resource') {
    const { scopeType } = row;
    const policy = { id, metric, period, limitValue, counter, scopeType, scopeId, enabled: true };
    return resourceLimit(policy).applied;
  }
  const { kind, subjectId, scopeType: targetType } = row;
  const budget = { id, kind, subjectId, metric, period, limitValue, counter, targetType, targetId: scopeId };
  return budgetLimit(budget).applied;
}
