import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type AppliedLimit, budgetLimit, type Limit, resourceLimit } from '../../domain/limits/limit.ts';
import { CALENDAR_PERIODS } from '../../domain/limits/period.ts';
import type { BudgetPolicy, LimitPolicy } from '../../domain/snapshot.ts';
import { HAS_ALERTS, ownerCanSend, POLICY_TABLES, type PolicyTable } from '../postgres/policy-tables.ts';
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

/** A limit of one organization that has alerts. */
export interface AlertingLimit {
  readonly limit: Limit;
  /** Whose limit it is; null for a shared limit. */
  readonly subjectId: string | null;
  readonly alertAt: readonly number[];
  readonly alertOnForecast: boolean;
}

interface ListedPolicy extends Pick<LimitPolicy, 'id' | 'metric' | 'period' | 'limitValue' | 'counter'> {
  readonly organizationId: string;
  readonly scopeId: string | null;
  readonly alertAt: number[];
  readonly alertOnForecast: boolean;
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
  return readOwned(db, behind, sql`organization_id, id`, max);
}

/** Enabled limits with calendar windows whose counters are not older than that, the newest first if there are more. */
export function readNewCounters(db: Kysely<Database>, ageMsMax: number, max: number): Promise<OwnedLimit[]> {
  const since = sql`now() - make_interval(secs => ${ageMsMax / 1_000})`;
  return readOwned(db, sql`counted_from > ${since}`, sql`counted_from desc`, max);
}

/**
 * The next limits with alerts of one organization after an id, whose owners can send: those on everything, and those of or on one of these
 * subjects, or with one of these ids.
 */
export async function readAlertingPolicies(
  db: Kysely<Database>,
  organizationId: string,
  subjectIds: readonly string[],
  afterId: string,
  max: number,
): Promise<AlertingLimit[]> {
  const condition = ({ table, kind, subject }: PolicyTable) => {
    const among = sql`any(${subjectIds}::uuid[])`;
    const everywhere = subject === null ? sql` or scope_id is null` : sql``;
    const own = sql`(${sql.ref(subject ?? 'scope_id')} = ${among} or id = ${among}${everywhere})`;
    return sql`organization_id = ${organizationId} and id > ${afterId}::uuid and ${HAS_ALERTS} and ${own}
      and ${ownerCanSend(kind, table)}`;
  };
  const rows = await readPolicies(db, condition, sql`id`, max);
  return rows.map((row) => ({
    limit: limitOf(row),
    subjectId: row.kind === 'resource' ? null : row.subjectId,
    alertAt: row.alertAt,
    alertOnForecast: row.alertOnForecast,
  }));
}

async function readOwned(
  db: Kysely<Database>,
  condition: RawBuilder<unknown>,
  first: RawBuilder<unknown>,
  max: number,
): Promise<OwnedLimit[]> {
  const rows = await readPolicies(db, () => condition, first, max);
  return rows.map((row) => ({
    place: { organizationId: row.organizationId, policyId: row.id },
    limit: limitOf(row).applied,
  }));
}

/** In order of their positions. */
async function readPolicies(
  db: Kysely<Database>,
  condition: (table: PolicyTable) => RawBuilder<unknown>,
  first: RawBuilder<unknown>,
  max: number,
): Promise<PolicyRow[]> {
  const branches = POLICY_TABLES.map((from) => {
    const { table, kind, subject, scope } = from;
    return sql`
      (select organization_id as "organizationId", id, ${sql.lit(kind)} as kind,
        ${subject === null ? sql`null::uuid` : sql.ref(subject)} as "subjectId",
        ${sql.ref(`${scope}_type`)} as "scopeType", ${sql.ref(`${scope}_id`)} as "scopeId",
        metric, period, limit_value as "limitValue", counter,
        alert_at as "alertAt", alert_on_forecast as "alertOnForecast"
      from ${sql.table(table)}
      where ${condition(from)} and enabled and period in (${sql.join(CALENDAR_PERIODS.map((each) => sql.lit(each)))})
      order by ${first} limit ${sql.lit(max)})`;
  });
  const { rows } = await sql<PolicyRow>`${sql.join(branches, sql` union all `)}
    order by "organizationId", id limit ${sql.lit(max)}`.execute(db);
  return rows;
}

function limitOf(row: PolicyRow): Limit {
  const { id, metric, period, limitValue, counter = 0, scopeId } = row;
  if (row.kind === 'resource') {
    const { scopeType } = row;
    const policy = { id, metric, period, limitValue, counter, scopeType, scopeId, enabled: true };
    return resourceLimit(policy);
  }
  const { kind, subjectId, scopeType: targetType } = row;
  const budget = { id, kind, subjectId, metric, period, limitValue, counter, targetType, targetId: scopeId };
  return budgetLimit(budget);
}
