import Type, { type Static } from 'typebox';
import type { ResourceDefinition } from '../resource-definition.ts';
import { changeErrors, createErrors, noContent } from '../route-definition.ts';
import {
  changeOf,
  closed,
  Id,
  Name,
  nullable,
  Ok,
  oneOf,
  optional,
  PageQuery,
  params,
  query,
  Slug,
  Timestamp,
} from '../schema.ts';
import { budgetFields, budgetWriteFields, LimitUuidQuery } from './limit-policy.ts';

const TeamKind = oneOf(['team', 'project', 'cost_center'], {
  default: 'team',
  description: 'What it represents in your organization. All kinds work the same.',
});
const ParentId = nullable(Id, {
  description: 'The parent team, whose limits also count this team’s requests. Teams nest one level deep.',
});

export const Team = closed('Team', {
  id: Id,
  name: Name,
  slug: Slug,
  kind: TeamKind,
  parent_id: ParentId,
  created_at: Timestamp,
});
export type Team = Static<typeof Team>;

export const TeamCreate = closed('TeamCreate', {
  name: Name,
  kind: optional(TeamKind),
  parent_id: optional(ParentId),
});
export type TeamCreate = Static<typeof TeamCreate>;

export const TeamUpdate = changeOf('TeamUpdate', Team, {
  name: Name,
  kind: TeamKind,
  parent_id: optional(ParentId),
});
export type TeamUpdate = Static<typeof TeamUpdate>;

export const TeamLimitPolicy = closed('TeamLimitPolicy', {
  id: Id,
  limit_uuid: Id,
  team_uuid: Id,
  ...budgetFields,
});
export type TeamLimitPolicy = Static<typeof TeamLimitPolicy>;

export const TeamLimitPolicyList = closed('TeamLimitPolicyList', { policies: Type.Array(TeamLimitPolicy) });

/** Updates the policy with this `limit_uuid`; without it, creates one. */
export const TeamLimitPolicyUpsert = changeOf('TeamLimitPolicyUpsert', TeamLimitPolicy, {
  team_uuid: Id,
  ...budgetWriteFields,
});
export type TeamLimitPolicyUpsert = Static<typeof TeamLimitPolicyUpsert>;

const shared = { plane: 'management', tag: 'Teams' } as const;
const read = { scope: 'relay:limits:read:organization' } as const;
const manage = { scope: 'relay:limits:manage' } as const;

export const teamResource = {
  order: 75,
  routes: {
    listTeams: {
      ...shared,
      method: 'GET',
      path: '/api/relay/teams',
      access: read,
      summary: 'List teams',
      query: PageQuery,
      success: { status: 200, schema: Type.Array(Team) },
    },
    createTeam: {
      ...shared,
      method: 'POST',
      path: '/api/relay/teams',
      access: manage,
      summary: 'Create a team',
      body: TeamCreate,
      success: { status: 201, schema: Team },
      errors: createErrors,
    },
    getTeam: {
      ...shared,
      method: 'GET',
      path: '/api/relay/teams/{team_id}',
      access: read,
      summary: 'Read a team',
      params: params('team_id'),
      success: { status: 200, schema: Team },
    },
    updateTeam: {
      ...shared,
      method: 'PUT',
      path: '/api/relay/teams/{team_id}',
      access: manage,
      summary: 'Change a team',
      params: params('team_id'),
      body: TeamUpdate,
      success: { status: 200, schema: Team },
      errors: changeErrors,
    },
    deleteTeam: {
      ...shared,
      method: 'DELETE',
      path: '/api/relay/teams/{team_id}',
      access: manage,
      summary: 'Delete a team and its limits; its keys, members and subteams remain, without a team',
      params: params('team_id'),
      success: noContent,
      errors: changeErrors,
    },
    listTeamLimitPolicies: {
      ...shared,
      method: 'GET',
      path: '/api/relay/team-limit-policies',
      access: read,
      summary: 'List team limits',
      query: query({ ...PageQuery.properties, team_uuid: optional(Id) }),
      success: { status: 200, schema: TeamLimitPolicyList },
    },
    upsertTeamLimitPolicy: {
      ...shared,
      method: 'POST',
      path: '/api/relay/team-limit-policies',
      access: manage,
      summary: 'Create a team limit, or change the one named by limit_uuid',
      body: TeamLimitPolicyUpsert,
      success: { status: 200, schema: Ok },
      errors: ['not_found', 'conflict', 'idempotency_conflict', 'version_conflict'],
    },
    deleteTeamLimitPolicy: {
      ...shared,
      method: 'DELETE',
      path: '/api/relay/team-limit-policies',
      access: manage,
      summary: 'Delete the team limit named by limit_uuid',
      query: LimitUuidQuery,
      success: { status: 200, schema: Ok },
      errors: ['not_found', 'version_conflict'],
    },
  },
  command: {
    singular: 'team',
    plural: 'teams',
    summary: 'Manage teams',
    description: 'Manage teams, projects and cost centers that share limits',
  },
} as const satisfies ResourceDefinition;
