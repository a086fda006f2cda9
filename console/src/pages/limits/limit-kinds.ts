import { ApiKeyLimitPolicyUpsert, LimitPolicyCreate, UserLimitPolicyUpsert } from '@relay/contract';
import type { TSchema } from 'typebox';
import { type Api, take } from '../../api/client.ts';
import { cacheKeys } from '../../api/queries.ts';
import type { LimitKind, LimitRow, LimitScope } from './limit-row.ts';

/** The fields of a body, by the names that its kind of policy gives them. */
export type LimitValues = Record<string, string | number | boolean | null | undefined>;

interface KindOfLimit {
  readonly schema: TSchema;
  /** Names of the fields that say whose it is and what it is on. */
  readonly subject: 'user_uuid' | 'api_key_uuid' | null;
  readonly scope: 'scope_type' | 'target_type';
  readonly scopeId: 'scope_id' | 'target_id';
  readonly scopes: readonly LimitScope[];
  /** What it is on and counts stays as it was made. */
  readonly fixed: boolean;
  /** Answers nothing that is used: the list is read again. */
  readonly save: (api: Api, id: string | null, values: LimitValues) => Promise<unknown>;
  readonly remove: (api: Api, id: string) => Promise<unknown>;
}

const budget = {
  scope: 'target_type',
  scopeId: 'target_id',
  scopes: ['global', 'lane', 'provider', 'model'],
} as const;

/** How each kind of limit is written. The values were checked by its schema before they come here. */
export const limitKinds: Readonly<Record<LimitKind, KindOfLimit>> = {
  resource: {
    schema: LimitPolicyCreate,
    subject: null,
    scope: 'scope_type',
    scopeId: 'scope_id',
    scopes: ['global', 'lane', 'provider', 'credential', 'endpoint'],
    fixed: false,
    save(api, id, values) {
      const body = values as unknown as LimitPolicyCreate;
      if (id === null) return take(api.POST('/api/relay/limit-policies', { body }));
      const params = { path: { policy_id: id } };
      const whole = { ...body, enabled: body.enabled ?? true };
      return take(api.PUT('/api/relay/limit-policies/{policy_id}', { params, body: whole }));
    },
    remove: (api, id) =>
      api.DELETE('/api/relay/limit-policies/{policy_id}', { params: { path: { policy_id: id } } }),
  },
  user: {
    ...budget,
    schema: UserLimitPolicyUpsert,
    subject: 'user_uuid',
    fixed: false,
    save(api, id, values) {
      const body = { ...(values as unknown as UserLimitPolicyUpsert), ...idOf(id) };
      return take(api.POST('/api/relay/pro/user-limit-policies', { body }));
    },
    remove: (api, id) =>
      api.DELETE('/api/relay/pro/user-limit-policies', { params: { query: { limit_uuid: id } } }),
  },
  api_key: {
    ...budget,
    schema: ApiKeyLimitPolicyUpsert,
    subject: 'api_key_uuid',
    fixed: true,
    save(api, id, values) {
      const body = { ...(values as unknown as ApiKeyLimitPolicyUpsert), ...idOf(id) };
      return take(api.POST('/api/relay/api-key-limit-policies', { body }));
    },
    remove: (api, id) =>
      api.DELETE('/api/relay/api-key-limit-policies', { params: { query: { limit_uuid: id } } }),
  },
};

/** What a change of a limit makes stale. */
export const staleLimits = [
  cacheKeys.limitPolicies,
  cacheKeys.userBudgets,
  cacheKeys.apiKeyBudgets,
  cacheKeys.limitUsage,
] as const;

function idOf(id: string | null): { readonly limit_uuid?: string } {
  return id === null ? {} : { limit_uuid: id };
}

/** The body that says of a limit what it is now. */
export function valuesOf(row: LimitRow): LimitValues {
  const kind = limitKinds[row.kind];
  return {
    ...(kind.subject === null ? {} : { [kind.subject]: row.subjectId }),
    [kind.scope]: row.scope,
    [kind.scopeId]: row.scopeId,
    metric: row.metric,
    period: row.period,
    limit_value: row.limit,
    enabled: row.enabled,
  };
}

/** What a new limit begins as: the most common of its kind. */
export function freshValues(kind: LimitKind): LimitValues {
  const { subject, scope, scopeId } = limitKinds[kind];
  return {
    ...(subject === null ? {} : { [subject]: '' }),
    [scope]: 'global',
    [scopeId]: null,
    metric: kind === 'resource' ? 'requests' : 'spend',
    period: kind === 'resource' ? 'minute' : 'day',
    enabled: true,
  };
}
