import Type, { type Static } from 'typebox';
import { without } from '../config-item.ts';
import type { ResourceDefinition } from '../resource-definition.ts';
import { changeErrors, createErrors, noContent } from '../route-definition.ts';
import {
  changeOf,
  closed,
  EntityTag,
  flag,
  Id,
  integer,
  nullable,
  Ok,
  oneOf,
  optional,
  PageQuery,
  params,
  query,
  text,
} from '../schema.ts';
import { LimitUsage, LimitUsageQuery, NextLimits, NextLimitsQuery } from './limit-usage.ts';
import { LimitMetric, LimitPeriod, ManagedBy, PolicyScopeType, TargetType } from './values.ts';

const LimitValue = integer({ description: 'The maximum for one window; micro-USD for `spend`.' });
const ScopeId = nullable(Id, { description: 'Null for `global`.' });
const Unpriced = oneOf(['refuse', 'allow'], {
  default: 'refuse',
  description:
    'With metric `spend`: whether an endpoint without a price gets no requests (`refuse`), or gets them without counting their spend (`allow`).',
});

const Enforcement = oneOf(['estimate', 'hard'], {
  default: 'estimate',
  description:
    'With metric `tokens` or `spend`: whether a request reserves what it is expected to use (`estimate`), or the most that it can use (`hard`). If the client sets no output cap, a hard limit sets one. A hard limit on `spend` requires `unpriced: refuse`. Limits on `requests` and `concurrency` are exact, and accept only `estimate`.',
});

/** The alerts of a limit, of whichever kind. */
const alertFields = {
  alert_at: Type.Array(integer({ minimum: 1, maximum: 100 }), {
    maxItems: 5,
    default: [],
    description:
      'Thresholds, in percent of the limit, at which Relay sends an alert, each once per window. Only with the periods `hour`, `day`, `week` and `month`.',
  }),
  alert_on_forecast: flag({
    default: false,
    description:
      'Whether Relay sends an alert, once per window, when usage at the current rate will reach the limit before the window ends.',
  }),
};
const alertWriteFields = {
  alert_at: optional(alertFields.alert_at),
  alert_on_forecast: optional(alertFields.alert_on_forecast),
};

/** Of a limit of any kind. */
const limitFields = {
  metric: LimitMetric,
  period: LimitPeriod,
  limit_value: LimitValue,
  unpriced: Unpriced,
  enforcement: Enforcement,
  enabled: flag(),
  ...alertFields,
};
const limitWriteFields = {
  metric: LimitMetric,
  period: LimitPeriod,
  limit_value: LimitValue,
  unpriced: optional(Unpriced),
  enforcement: optional(Enforcement),
};

export const LimitPolicy = closed('LimitPolicy', {
  id: Id,
  scope_type: PolicyScopeType,
  scope_id: ScopeId,
  ...limitFields,
  managed_by: optional(ManagedBy),
});
export type LimitPolicy = Static<typeof LimitPolicy>;

export const LimitPolicyCreate = closed('LimitPolicyCreate', {
  scope_type: PolicyScopeType,
  scope_id: optional(ScopeId),
  ...limitWriteFields,
  enabled: optional(flag({ default: true })),
  ...alertWriteFields,
});
export type LimitPolicyCreate = Static<typeof LimitPolicyCreate>;

export const LimitPolicyUpdate = changeOf('LimitPolicyUpdate', LimitPolicy, {
  scope_type: PolicyScopeType,
  scope_id: optional(ScopeId),
  ...limitWriteFields,
  enabled: flag(),
  ...alertWriteFields,
});
export type LimitPolicyUpdate = Static<typeof LimitPolicyUpdate>;

/** Of member, key and team limits. */
export const budgetFields = {
  target_type: TargetType,
  target_id: ScopeId,
  ...limitFields,
  etag: EntityTag,
};

export const budgetWriteFields = {
  limit_uuid: optional(Id),
  target_type: TargetType,
  target_id: optional(ScopeId),
  ...limitWriteFields,
  enabled: optional(flag({ default: true })),
  ...alertWriteFields,
};

export const UserLimitPolicy = closed('UserLimitPolicy', {
  id: Id,
  limit_uuid: Id,
  user_uuid: Id,
  ...budgetFields,
});
export type UserLimitPolicy = Static<typeof UserLimitPolicy>;

export const UserLimitPolicyList = closed('UserLimitPolicyList', { policies: Type.Array(UserLimitPolicy) });

/** Updates the policy with this `limit_uuid`; without it, creates one. */
export const UserLimitPolicyUpsert = changeOf('UserLimitPolicyUpsert', UserLimitPolicy, {
  user_uuid: Id,
  ...budgetWriteFields,
});
export type UserLimitPolicyUpsert = Static<typeof UserLimitPolicyUpsert>;

export const ApiKeyLimitPolicy = closed('ApiKeyLimitPolicy', {
  id: Id,
  limit_uuid: Id,
  api_key_uuid: Id,
  owner_user_uuid: Id,
  ...budgetFields,
});
export type ApiKeyLimitPolicy = Static<typeof ApiKeyLimitPolicy>;

export const ApiKeyLimitPolicyList = closed('ApiKeyLimitPolicyList', {
  policies: Type.Array(ApiKeyLimitPolicy),
});

export const ApiKeyLimitPolicyUpsert = changeOf('ApiKeyLimitPolicyUpsert', ApiKeyLimitPolicy, {
  api_key_uuid: Id,
  ...budgetWriteFields,
});
export type ApiKeyLimitPolicyUpsert = Static<typeof ApiKeyLimitPolicyUpsert>;

export const LimitUuidQuery = query({ limit_uuid: Id });

export const ConfigLimitPolicy = closed('ConfigLimitPolicy', {
  scope: optional(
    nullable(text({ minLength: 1, maxLength: 400 }), {
      default: null,
      description:
        'The slug of the limited resource; `provider-slug/name` for a credential; null for `global`.',
    }),
  ),
  ...without(LimitPolicyCreate.properties, 'scope_id'),
});
export type ConfigLimitPolicy = Static<typeof ConfigLimitPolicy>;

const shared = { plane: 'management', tag: 'Limit policies' } as const;
const read = { scope: 'relay:limits:read:organization' } as const;
const manage = { scope: 'relay:limits:manage' } as const;
const sharedLimits = { ...shared, selfHostedOnly: true } as const;

export const limitPolicyResource = {
  order: 70,
  scopes: {
    'relay:limits:read:organization': 'Read the limits and limit state of the whole organization.',
    'relay:limits:manage': 'Create, change and delete limits.',
  },
  routes: {
    listLimitPolicies: {
      ...sharedLimits,
      method: 'GET',
      path: '/api/relay/limit-policies',
      access: read,
      summary: 'List shared limits (self-hosted)',
      query: PageQuery,
      success: { status: 200, schema: Type.Array(LimitPolicy) },
    },
    createLimitPolicy: {
      ...sharedLimits,
      method: 'POST',
      path: '/api/relay/limit-policies',
      access: manage,
      summary: 'Create a shared limit (self-hosted)',
      body: LimitPolicyCreate,
      success: { status: 201, schema: LimitPolicy },
      errors: createErrors,
    },
    getLimitPolicy: {
      ...sharedLimits,
      method: 'GET',
      path: '/api/relay/limit-policies/{policy_id}',
      access: read,
      summary: 'Read a shared limit (self-hosted)',
      params: params('policy_id'),
      success: { status: 200, schema: LimitPolicy },
    },
    updateLimitPolicy: {
      ...sharedLimits,
      method: 'PUT',
      path: '/api/relay/limit-policies/{policy_id}',
      access: manage,
      summary: 'Change a shared limit (self-hosted)',
      params: params('policy_id'),
      body: LimitPolicyUpdate,
      success: { status: 200, schema: LimitPolicy },
      errors: changeErrors,
    },
    deleteLimitPolicy: {
      ...sharedLimits,
      method: 'DELETE',
      path: '/api/relay/limit-policies/{policy_id}',
      access: manage,
      summary: 'Delete a shared limit (self-hosted)',
      params: params('policy_id'),
      success: noContent,
      errors: changeErrors,
    },
    listUserLimitPolicies: {
      ...shared,
      method: 'GET',
      path: '/api/relay/pro/user-limit-policies',
      /** Everyone sees their own budgets; `relay:limits:read:organization` shows all of them. */
      access: 'any_key',
      summary: 'List the member limits the caller can see',
      query: PageQuery,
      success: { status: 200, schema: UserLimitPolicyList },
    },
    upsertUserLimitPolicy: {
      ...shared,
      method: 'POST',
      path: '/api/relay/pro/user-limit-policies',
      access: manage,
      summary: 'Create a member limit, or change the one named by limit_uuid',
      body: UserLimitPolicyUpsert,
      success: { status: 200, schema: Ok },
      errors: ['not_found', 'conflict', 'idempotency_conflict', 'version_conflict'],
    },
    deleteUserLimitPolicy: {
      ...shared,
      method: 'DELETE',
      path: '/api/relay/pro/user-limit-policies',
      access: manage,
      summary: 'Delete the member limit named by limit_uuid',
      query: LimitUuidQuery,
      success: { status: 200, schema: Ok },
      errors: ['not_found', 'version_conflict'],
    },
    listApiKeyLimitPolicies: {
      ...shared,
      method: 'GET',
      path: '/api/relay/api-key-limit-policies',
      access: 'any_key',
      summary: 'List the key limits the caller can see',
      query: PageQuery,
      success: { status: 200, schema: ApiKeyLimitPolicyList },
    },
    upsertApiKeyLimitPolicy: {
      ...shared,
      method: 'POST',
      path: '/api/relay/api-key-limit-policies',
      access: manage,
      summary: 'Create a key limit, or change the one named by limit_uuid',
      body: ApiKeyLimitPolicyUpsert,
      success: { status: 200, schema: Ok },
      errors: ['not_found', 'conflict', 'idempotency_conflict', 'version_conflict'],
    },
    deleteApiKeyLimitPolicy: {
      ...shared,
      method: 'DELETE',
      path: '/api/relay/api-key-limit-policies',
      access: manage,
      summary: 'Delete the key limit named by limit_uuid',
      query: LimitUuidQuery,
      success: { status: 200, schema: Ok },
      errors: ['not_found', 'version_conflict'],
    },
    listLimitUsage: {
      ...shared,
      method: 'GET',
      path: '/api/relay/limits/usage',
      access: { scopes: ['relay:limits:read:organization', 'relay:usage:read'] },
      summary: 'Read the live state of every limit that can reject the caller, or of all limits',
      query: LimitUsageQuery,
      success: { status: 200, schema: Type.Array(LimitUsage) },
      errors: ['policy_unavailable'],
    },
    getNextLimits: {
      ...shared,
      method: 'GET',
      path: '/api/relay/limits/next',
      access: { scopes: ['relay:limits:read:organization', 'relay:usage:read'] },
      summary: 'Read the limits that will be reached next',
      query: NextLimitsQuery,
      success: { status: 200, schema: NextLimits },
      errors: ['policy_unavailable'],
    },
  },
  section: {
    name: 'limit_policies',
    noun: 'limit_policy',
    item: ConfigLimitPolicy,
    scopes: { read: read.scope, manage: manage.scope },
  },
  command: {
    singular: 'limit',
    plural: 'limits',
    summary: 'Manage limits',
    description: 'Manage limits on requests, tokens, spend and concurrency',
  },
} as const satisfies ResourceDefinition;
