import { type TeamLimitPolicy, TeamLimitPolicyUpsert } from '@relay/contract';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Handlers } from '../../http/call.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { entityTag } from '../resources/entity-tag.ts';
import { listFound } from '../resources/paging.ts';
import { isId } from '../resources/refusals.ts';
import type { RowRange } from '../resources/rows.ts';
import { type BudgetKind, type BudgetRow, teamBudgetRows } from './budget-rows.ts';
import { unknownSubject } from './change-budget.ts';
import { alertsOf } from './limit-alerts.ts';
import { budgetWrites } from './write-budget.ts';

type TeamBudgetRow = BudgetRow & { readonly team_id: string };

/** The limits of teams: of one of them, or of all when `teamId` is undefined. */
export interface TeamBudgetScope {
  readonly organizationId: string;
  readonly teamId: string | undefined;
  /** Only of teams whose limits count this member's requests: theirs, those of their keys, and the parents. */
  readonly userId?: string | undefined;
  readonly enabledOnly: boolean;
}

/** In creation order. */
export function listTeamBudgets(
  db: Kysely<Database>,
  { organizationId, teamId, userId, enabledOnly }: TeamBudgetScope,
  { afterId, limit }: RowRange,
): Promise<TeamBudgetRow[]> {
  return db
    .selectFrom('team_limit_policies')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$if(teamId !== undefined, (query) => query.where('team_id', '=', teamId ?? ''))
    .$if(userId !== undefined, (query) => query.where(countsRequestsOf(organizationId, userId ?? '')))
    .$if(enabledOnly, (query) => query.where('enabled', '=', true))
    .$if(afterId !== undefined, (query) => query.where('id', '>', afterId ?? ''))
    .orderBy('id')
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .execute();
}

function countsRequestsOf(organizationId: string, userId: string) {
  return sql<boolean>`team_id in (
    with direct as (
      select team_id from organization_members where organization_id = ${organizationId} and user_id = ${userId}
      union select team_id from api_keys
      where organization_id = ${organizationId} and user_id = ${userId} and revoked_at is null)
    select team_id from direct where team_id is not null
    union select team.parent_id from teams as team join direct on direct.team_id = team.id
    where team.organization_id = ${organizationId} and team.parent_id is not null)`;
}

const names = { kind: 'team', subjectParam: 'team_uuid' } as const;

/** Everything except the team can change. */
export const teamBudgets: BudgetKind = {
  ...names,
  noun: 'team_limit_policy',
  rows: teamBudgetRows,
  subjectColumn: 'team_id',
  body: TeamLimitPolicyUpsert,
  fixed: [],
  async lockSubject(tx: Transaction<Database>, organizationId, teamId) {
    const team = await tx
      .selectFrom('teams')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('id', '=', teamId)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (team === undefined) throw unknownSubject(names);
    return {};
  },
};

/** Limits of teams: each counts the requests of the team and of the teams below it. */
export function teamBudgetHandlers(deps: ManagementDeps): Handlers {
  const writes = budgetWrites(deps, teamBudgets);
  return {
    async listTeamLimitPolicies(call) {
      const { organizationId } = call.caller;
      const { team_uuid: teamId } = call.query;
      if (teamId !== undefined && !isId(teamId)) return { policies: [] };
      const db = deps.ofOrganization(organizationId);
      const rows = await listFound(call, 'listTeamLimitPolicies', (range) =>
        listTeamBudgets(db, { organizationId, teamId, enabledOnly: false }, range),
      );
      return { policies: rows.map(toTeamLimitPolicy) };
    },
    async upsertTeamLimitPolicy(call) {
      const { limit_uuid, team_uuid, ...limit } = call.body;
      return writes.upsert(call, limit_uuid, { ...limit, subjectId: team_uuid });
    },
    async deleteTeamLimitPolicy(call) {
      return writes.remove(call, call.query.limit_uuid);
    },
  };
}

function toTeamLimitPolicy(row: TeamBudgetRow): TeamLimitPolicy {
  return {
    id: row.id,
    limit_uuid: row.id,
    team_uuid: row.team_id,
    target_type: row.target_type,
    target_id: row.target_id,
    metric: row.metric,
    period: row.period,
    limit_value: row.limit_value,
    unpriced: row.unpriced,
    enforcement: row.enforcement,
    enabled: row.enabled,
    ...alertsOf(row),
    etag: entityTag(row),
  };
}
