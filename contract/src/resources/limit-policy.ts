import Type, { type Static } from 'typebox';
import { closed, flag, Id, integer, nullable, oneOf, optional, query, Timestamp } from '../schema.ts';
import { ManagedBy, Metric, Period, PolicyScopeType, TargetType } from './values.ts';

const LimitValue = integer({ description: 'The most the window may hold; micro-USD for `spend`.' });
const ScopeId = nullable(Id, { description: 'Null for `global`.' });

export const LimitPolicy = closed('LimitPolicy', {
  id: Id,
  scope_type: PolicyScopeType,
  scope_id: ScopeId,
  metric: Metric,
  period: Period,
  limit_value: LimitValue,
  enabled: flag(),
  managed_by: optional(ManagedBy),
});
export type LimitPolicy = Static<typeof LimitPolicy>;

export const LimitPolicyCreate = closed('LimitPolicyCreate', {
  scope_type: PolicyScopeType,
  scope_id: optional(ScopeId),
  metric: Metric,
  period: Period,
  limit_value: LimitValue,
  enabled: optional(flag({ default: true })),
});
export type LimitPolicyCreate = Static<typeof LimitPolicyCreate>;

export const LimitPolicyUpdate = closed('LimitPolicyUpdate', {
  scope_type: PolicyScopeType,
  scope_id: optional(ScopeId),
  metric: Metric,
  period: Period,
  limit_value: LimitValue,
  enabled: flag(),
});
export type LimitPolicyUpdate = Static<typeof LimitPolicyUpdate>;

const budgetFields = {
  target_type: TargetType,
  target_id: ScopeId,
  metric: Metric,
  period: Period,
  limit_value: LimitValue,
  enabled: flag(),
};

const budgetWriteFields = {
  limit_uuid: optional(Id),
  target_type: TargetType,
  target_id: optional(ScopeId),
  metric: Metric,
  period: Period,
  limit_value: LimitValue,
  enabled: optional(flag({ default: true })),
};

export const UserLimitPolicy = closed('UserLimitPolicy', {
  id: Id,
  limit_uuid: Id,
  user_uuid: Id,
  ...budgetFields,
});
export type UserLimitPolicy = Static<typeof UserLimitPolicy>;

export const UserLimitPolicyList = closed('UserLimitPolicyList', { policies: Type.Array(UserLimitPolicy) });

/** With `limit_uuid` an update, without it a new policy. */
export const UserLimitPolicyUpsert = closed('UserLimitPolicyUpsert', { user_uuid: Id, ...budgetWriteFields });
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

export const ApiKeyLimitPolicyUpsert = closed('ApiKeyLimitPolicyUpsert', {
  api_key_uuid: Id,
  ...budgetWriteFields,
});
export type ApiKeyLimitPolicyUpsert = Static<typeof ApiKeyLimitPolicyUpsert>;

export const LimitUuidQuery = query({ limit_uuid: Id });

/** The live state of one policy. */
export const LimitUsage = closed('LimitUsage', {
  policy_id: Id,
  policy_kind: oneOf(['resource', 'user', 'api_key']),
  scope_type: oneOf(['global', 'provider', 'credential', 'endpoint', 'model', 'lane']),
  scope_id: nullable(Id),
  metric: Metric,
  period: Period,
  limit: integer(),
  used: integer(),
  reserved: integer(),
  remaining: integer(),
  resets_at: nullable(Timestamp),
});
export type LimitUsage = Static<typeof LimitUsage>;
