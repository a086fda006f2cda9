import { LimitPolicyUpdate, limitPolicyResource } from '@relay/contract';
import { defineResource } from '../resources/resource.ts';
import { storedTable } from '../resources/rows.ts';
import { keyBudgetHandlers } from './key-budget-routes.ts';
import { keyBudgets } from './key-budgets.ts';
import { limitPolicyHandlers } from './policy-routes.ts';
import { toLimitPolicy } from './policy-wire.ts';
import { limitPolicySection } from './section.ts';
import { teamBudgetHandlers, teamBudgets } from './team-budgets.ts';
import { limitUsageHandlers } from './usage-routes.ts';
import { userBudgetHandlers } from './user-budget-routes.ts';
import { userBudgets } from './user-budgets.ts';

/** What a limit of a member, key or team may be restricted to. */
const targets = [
  { table: 'providers', column: 'target_id' },
  { table: 'endpoints', column: 'target_id' },
  { table: 'lanes', column: 'target_id' },
];

export const resources = [
  defineResource({
    noun: limitPolicyResource.section.noun,
    table: storedTable('limit_policies'),
    parents: [
      { table: 'providers', column: 'scope_id' },
      { table: 'credentials', column: 'scope_id' },
      { table: 'endpoints', column: 'scope_id' },
      { table: 'lanes', column: 'scope_id' },
    ],
    feature: ['resource_limit_policies', 'listLimitPolicies'],
    isSelfHostedOnly: true,
    change: { body: LimitPolicyUpdate, wire: (_deps, _db, row) => toLimitPolicy(row) },
    section: limitPolicySection,
    handlers: (deps, writes) => ({ ...limitPolicyHandlers(deps, writes), ...limitUsageHandlers(deps) }),
  }),
  defineResource({
    noun: userBudgets.noun,
    table: storedTable('user_limit_policies'),
    parents: [{ table: 'organization_members', column: 'user_id' }, ...targets],
    feature: ['user_limit_policies', 'listUserLimitPolicies'],
    handlers: userBudgetHandlers,
  }),
  defineResource({
    noun: keyBudgets.noun,
    table: storedTable('api_key_limit_policies'),
    parents: [{ table: 'api_keys', column: 'api_key_id' }, ...targets],
    feature: ['api_key_limit_policies', 'listApiKeyLimitPolicies'],
    handlers: keyBudgetHandlers,
  }),
  defineResource({
    noun: teamBudgets.noun,
    table: storedTable('team_limit_policies'),
    parents: [{ table: 'teams', column: 'team_id' }, ...targets],
    feature: ['team_limit_policies', 'listTeamLimitPolicies'],
    handlers: teamBudgetHandlers,
  }),
];
