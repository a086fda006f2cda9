import type {
  ApiKeyLimitPolicy,
  LimitMetric,
  LimitPeriod,
  LimitPolicy,
  LimitUsage,
  TeamLimitPolicy,
  UserLimitPolicy,
} from '@relay/contract';

export type LimitKind = LimitUsage['policy_kind'];
export type LimitScope = LimitUsage['scope_type'];

/** The common fields of all kinds of limits, with live state. */
export interface LimitRow {
  readonly id: string;
  readonly kind: LimitKind;
  /** The member, key or team that owns it; null for a shared limit. */
  readonly subjectId: string | null;
  readonly scope: LimitScope;
  /** Null for `global`. */
  readonly scopeId: string | null;
  readonly metric: LimitMetric;
  readonly period: LimitPeriod;
  readonly limit: number;
  readonly unpriced: LimitPolicy['unpriced'];
  readonly enforcement: LimitPolicy['enforcement'];
  readonly enabled: boolean;
  /** In percent. */
  readonly alertAt: readonly number[];
  readonly alertOnForecast: boolean;
  /** The configuration file manages it. */
  readonly fromFile: boolean;
  /** The concurrency limit of an endpoint, which is edited at the endpoint. */
  readonly ofEndpoint: boolean;
  /** Null while disabled or loading. */
  readonly usage: LimitUsage | null;
}

export interface LimitSources {
  readonly resource: readonly LimitPolicy[];
  readonly user: readonly UserLimitPolicy[];
  readonly apiKey: readonly ApiKeyLimitPolicy[];
  readonly team: readonly TeamLimitPolicy[];
  readonly usage: readonly LimitUsage[];
  /** The kinds whose lists the caller cannot read. The live state has those that can reject the caller. */
  readonly unlisted?: ReadonlySet<LimitKind>;
}

const NO_KINDS: ReadonlySet<LimitKind> = new Set();

/** All limits of all kinds, and those that only the live state contains: the concurrency limits of endpoints, and kinds without a list. */
export function limitRows({
  resource,
  user,
  apiKey,
  team,
  usage,
  unlisted = NO_KINDS,
}: LimitSources): readonly LimitRow[] {
  const usageOf = new Map(usage.map((each) => [each.policy_id, each]));
  const rows: LimitRow[] = resource.map((policy) => ({
    ...shared(policy, policy.id, usageOf),
    kind: 'resource',
    subjectId: null,
    scope: policy.scope_type,
    scopeId: policy.scope_id,
    fromFile: policy.managed_by === 'file',
  }));
  for (const policy of user)
    rows.push({ ...budget(policy, usageOf), kind: 'user', subjectId: policy.user_uuid });
  for (const policy of apiKey)
    rows.push({ ...budget(policy, usageOf), kind: 'api_key', subjectId: policy.api_key_uuid });
  for (const policy of team)
    rows.push({ ...budget(policy, usageOf), kind: 'team', subjectId: policy.team_uuid });
  const known = new Set(rows.map(({ id }) => id));
  for (const each of usage) {
    if (known.has(each.policy_id)) continue;
    if (isBound(each)) rows.push({ ...usageRow(each), ofEndpoint: true });
    else if (unlisted.has(each.policy_kind)) rows.push(usageRow(each));
  }
  return rows;
}

type UsageOf = ReadonlyMap<string, LimitUsage>;
type Common = Pick<
  LimitPolicy,
  | 'metric'
  | 'period'
  | 'limit_value'
  | 'unpriced'
  | 'enforcement'
  | 'enabled'
  | 'alert_at'
  | 'alert_on_forecast'
>;

function shared(policy: Common, id: string, usageOf: UsageOf) {
  const { metric, period, limit_value: limit, unpriced, enforcement, enabled } = policy;
  // The live state may still contain a limit that was just disabled.
  const usage = enabled ? (usageOf.get(id) ?? null) : null;
  const alerts = { alertAt: policy.alert_at, alertOnForecast: policy.alert_on_forecast };
  return {
    id,
    metric,
    period,
    limit,
    unpriced,
    enforcement,
    enabled,
    ...alerts,
    fromFile: false,
    ofEndpoint: false,
    usage,
  };
}

function budget(
  policy: Common & Pick<UserLimitPolicy, 'limit_uuid' | 'target_type' | 'target_id'>,
  of: UsageOf,
) {
  return {
    ...shared(policy, policy.limit_uuid, of),
    scope: policy.target_type,
    scopeId: policy.target_id,
  };
}

/** The ID of an endpoint's limit names the endpoint; any other unlisted limit was just deleted. */
function isBound({ policy_id: id, policy_kind: kind }: LimitUsage): boolean {
  return kind === 'resource' && id.startsWith('endpoint:');
}

function usageRow(usage: LimitUsage): LimitRow {
  return {
    id: usage.policy_id,
    kind: usage.policy_kind,
    subjectId: usage.subject_id,
    scope: usage.scope_type,
    scopeId: usage.scope_id,
    metric: usage.metric,
    period: usage.period,
    limit: usage.limit,
    unpriced: 'refuse',
    enforcement: 'estimate',
    enabled: true,
    alertAt: [],
    alertOnForecast: false,
    fromFile: false,
    ofEndpoint: false,
    usage,
  };
}
