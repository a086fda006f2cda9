import { type RawBuilder, sql } from 'kysely';
import type { PolicyDescription } from '../../domain/limits/limit.ts';

export interface PolicyTable {
  readonly table: string;
  readonly kind: PolicyDescription['policy_kind'];
  /** The column that names whose limit it is; null for shared limits. */
  readonly subject: string | null;
  /** The prefix of the columns that name what is limited. */
  readonly scope: 'scope' | 'target';
}

/** Every table of limits. What reads all limits, whichever kind, reads these. */
export const POLICY_TABLES: readonly PolicyTable[] = [
  { table: 'limit_policies', kind: 'resource', subject: null, scope: 'scope' },
  { table: 'user_limit_policies', kind: 'user', subject: 'user_id', scope: 'target' },
  { table: 'team_limit_policies', kind: 'team', subject: 'team_id', scope: 'target' },
  { table: 'api_key_limit_policies', kind: 'api_key', subject: 'api_key_id', scope: 'target' },
];

/** Of one limit. The partial indexes have the same condition. */
export const HAS_ALERTS = sql`(alert_at <> '{}' or alert_on_forecast)`;

/** Whether an organization, given as an expression, has an enabled limit with alerts. */
export function hasAlerts(organizationId: RawBuilder<unknown>): RawBuilder<unknown> {
  const any = POLICY_TABLES.map(
    ({ table }) => sql`exists (select from ${sql.table(table)} as policy
      where policy.organization_id = ${organizationId} and enabled and ${HAS_ALERTS})`,
  );
  return sql`(${sql.join(any, sql` or `)})`;
}

/**
 * Whether the owner of a limit in this table can still send requests: a key that is neither revoked nor expired, of a member whose access is not
 * suspended. Others use nothing up, so their limits are in no list of active ones. `table` may be an alias.
 */
export function ownerCanSend(kind: PolicyTable['kind'], table: string): RawBuilder<boolean> {
  const organizationId = sql.ref(`${table}.organization_id`);
  const isActive = (userId: RawBuilder<unknown>) => sql<boolean>`not exists (
    select from organization_members as member join users as account on account.id = member.user_id
    where member.organization_id = ${organizationId} and member.user_id = ${userId}
      and (member.status <> 'active' or account.status = 'suspended'))`;
  if (kind === 'user') return isActive(sql.ref(`${table}.user_id`));
  if (kind !== 'api_key') return sql<boolean>`true`;
  return sql<boolean>`exists (
    select from api_keys as sender
    where sender.organization_id = ${organizationId} and sender.id = ${sql.ref(`${table}.api_key_id`)}
      and sender.revoked_at is null and (sender.expires_at is null or sender.expires_at > now())
      and ${isActive(sql.ref('sender.user_id'))})`;
}
