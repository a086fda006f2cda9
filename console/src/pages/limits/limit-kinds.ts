import {
  ApiKeyLimitPolicyUpsert,
  type LimitMetric,
  type LimitPeriod,
  type LimitPolicy,
  LimitPolicyCreate,
  type ResourceEdit,
  TeamLimitPolicyUpsert,
  UserLimitPolicyUpsert,
} from '@relay/contract';
import type { TSchema } from 'typebox';
import { type Api, take } from '../../api/client.ts';
import { cacheKeys } from '../../api/queries.ts';
import type { LimitKind, LimitRow, LimitScope } from './limit-row.ts';

/** The fields of the form. Each kind of limit has its own names for the owner and for what the limit applies to. */
export type LimitValues = {
  user_uuid?: string;
  team_uuid?: string;
  api_key_uuid?: string;
  scope_type?: LimitPolicyCreate['scope_type'];
  scope_id?: string | null;
  target_type?: UserLimitPolicyUpsert['target_type'];
  target_id?: string | null;
  metric: LimitMetric;
  period: LimitPeriod;
  limit_value?: number | undefined;
  unpriced: LimitPolicy['unpriced'];
  enforcement: LimitPolicy['enforcement'];
  enabled: boolean;
  alert_at: readonly number[];
  alert_on_forecast: boolean;
};

interface KindOfLimit {
  readonly schema: TSchema;
  /** The field names of the owner and of what the limit applies to. */
  readonly subject: 'user_uuid' | 'api_key_uuid' | 'team_uuid' | null;
  readonly scope: 'scope_type' | 'target_type';
  readonly scopeId: 'scope_id' | 'target_id';
  readonly scopes: readonly LimitScope[];
  /** Scope and metric cannot change after creation. */
  readonly fixed: boolean;
  /** The result is not used; the list is refetched. */
  readonly save: (api: Api, id: string | null, values: LimitValues) => Promise<unknown>;
  /** The same write, to try it first. */
  readonly edit: (id: string | null, values: LimitValues) => ResourceEdit;
  readonly remove: (api: Api, id: string) => Promise<unknown>;
}

const budget = {
  scope: 'target_type',
  scopeId: 'target_id',
  scopes: ['global', 'lane', 'provider', 'model'],
} as const;

/** How each kind of limit is written, after its schema has accepted the values. */
export const limitKinds: Readonly<Record<LimitKind, KindOfLimit>> = {
  resource: {
    schema: LimitPolicyCreate,
    subject: null,
    scope: 'scope_type',
    scopeId: 'scope_id',
    scopes: ['global', 'lane', 'provider', 'credential', 'endpoint'],
    fixed: false,
    edit: (id, values) =>
      id === null
        ? { operation: 'createLimitPolicy', body: resourceBody(values) }
        : { operation: 'updateLimitPolicy', id, body: resourceBody(values) },
    save(api, id, values) {
      const body = resourceBody(values);
      if (id === null) return take(api.POST('/api/relay/limit-policies', { body }));
      const params = { path: { policy_id: id } };
      return take(api.PUT('/api/relay/limit-policies/{policy_id}', { params, body }));
    },
    remove: (api, id) =>
      api.DELETE('/api/relay/limit-policies/{policy_id}', { params: { path: { policy_id: id } } }),
  },
  user: {
    ...budget,
    schema: UserLimitPolicyUpsert,
    subject: 'user_uuid',
    fixed: false,
    edit: (id, values) => ({
      operation: 'upsertUserLimitPolicy',
      body: { user_uuid: values.user_uuid ?? '', ...budgetBody(id, values) },
    }),
    save: (api, id, values) =>
      take(
        api.POST('/api/relay/pro/user-limit-policies', {
          body: { user_uuid: values.user_uuid ?? '', ...budgetBody(id, values) },
        }),
      ),
    remove: (api, id) =>
      api.DELETE('/api/relay/pro/user-limit-policies', { params: { query: { limit_uuid: id } } }),
  },
  team: {
    ...budget,
    schema: TeamLimitPolicyUpsert,
    subject: 'team_uuid',
    fixed: false,
    edit: (id, values) => ({
      operation: 'upsertTeamLimitPolicy',
      body: { team_uuid: values.team_uuid ?? '', ...budgetBody(id, values) },
    }),
    save: (api, id, values) =>
      take(
        api.POST('/api/relay/team-limit-policies', {
          body: { team_uuid: values.team_uuid ?? '', ...budgetBody(id, values) },
        }),
      ),
    remove: (api, id) =>
      api.DELETE('/api/relay/team-limit-policies', { params: { query: { limit_uuid: id } } }),
  },
  api_key: {
    ...budget,
    schema: ApiKeyLimitPolicyUpsert,
    subject: 'api_key_uuid',
    fixed: true,
    edit: (id, values) => ({
      operation: 'upsertApiKeyLimitPolicy',
      body: { api_key_uuid: values.api_key_uuid ?? '', ...budgetBody(id, values) },
    }),
    save: (api, id, values) =>
      take(
        api.POST('/api/relay/api-key-limit-policies', {
          body: { api_key_uuid: values.api_key_uuid ?? '', ...budgetBody(id, values) },
        }),
      ),
    remove: (api, id) =>
      api.DELETE('/api/relay/api-key-limit-policies', { params: { query: { limit_uuid: id } } }),
  },
};

/** The cache keys that a change of a limit makes stale. */
export const staleLimits = [
  cacheKeys.limitPolicies,
  cacheKeys.userBudgets,
  cacheKeys.apiKeyBudgets,
  cacheKeys.teamBudgets,
  cacheKeys.limitUsage,
  cacheKeys.auditLog,
] as const;

function resourceBody(values: LimitValues) {
  const { scope_type = 'global', scope_id = null } = values;
  return { scope_type, scope_id, ...amountOf(values) };
}

function budgetBody(id: string | null, values: LimitValues) {
  const { target_type = 'global', target_id = null } = values;
  return { target_type, target_id, ...amountOf(values), ...idOf(id) };
}

/** The form is sent only after its schema accepted it, and the schema requires the value. */
function amountOf(values: LimitValues) {
  const {
    metric,
    period,
    limit_value = 0,
    unpriced,
    enforcement,
    enabled,
    alert_at,
    alert_on_forecast,
  } = values;
  // Only calendar windows have alerts; another period may have been chosen since.
  const alerts = hasAlerts(period)
    ? { alert_at: [...alert_at], alert_on_forecast }
    : { alert_at: [], alert_on_forecast: false };
  return { metric, period, limit_value, unpriced, enforcement, enabled, ...alerts };
}

export function hasAlerts(period: LimitPeriod): boolean {
  return period !== 'none' && period !== 'second' && period !== 'minute';
}

function idOf(id: string | null): { readonly limit_uuid?: string } {
  return id === null ? {} : { limit_uuid: id };
}

/** The form values of an existing limit. */
export function valuesOf(row: LimitRow): LimitValues {
  const kind = limitKinds[row.kind];
  return {
    ...(kind.subject === null ? {} : { [kind.subject]: row.subjectId }),
    [kind.scope]: row.scope,
    [kind.scopeId]: row.scopeId,
    metric: row.metric,
    period: row.period,
    limit_value: row.limit,
    unpriced: row.unpriced,
    enforcement: row.enforcement,
    enabled: row.enabled,
    alert_at: row.alertAt,
    alert_on_forecast: row.alertOnForecast,
  };
}

/** The defaults of a new limit: the most common of its kind. Its owner is chosen in the dialog if it isn't known. */
export function freshValues(kind: LimitKind, subjectId = ''): LimitValues {
  const { subject, scope, scopeId } = limitKinds[kind];
  return {
    ...(subject === null ? {} : { [subject]: subjectId }),
    [scope]: 'global',
    [scopeId]: null,
    metric: kind === 'resource' ? 'requests' : 'spend',
    period: kind === 'resource' ? 'minute' : 'day',
    unpriced: 'refuse',
    enforcement: 'estimate',
    enabled: true,
    alert_at: kind === 'resource' ? [] : [50, 80, 100],
    alert_on_forecast: false,
  };
}
