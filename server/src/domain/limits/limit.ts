import type { LimitMetric, LimitPeriod } from '@relay/contract';
import type { Candidate } from '../routing/routing.ts';
import type { BudgetPolicy, BudgetTargetType, Endpoint, LimitPolicy, LimitScopeType } from '../snapshot.ts';
import { authStyles } from '../upstream-auth.ts';
import { METRICS } from './metric.ts';
import { isSliding } from './period.ts';

/** A limit as the engine counts it, resolved to the requests that it applies to. */
export interface AppliedLimit {
  /**
   * Names the counter: the policy, its scope and how often it was restarted. A policy that is moved to another lane or
   * enabled again starts a new counter, from the ledger, instead of continuing with one that missed requests.
   */
  readonly id: string;
  readonly metric: LimitMetric;
  readonly period: LimitPeriod;
  readonly limit: number;
  /** Requests reserve the most that they can use. The engines ignore it. */
  readonly hard?: true;
  readonly counts: CountedRequests;
}

/** What one request takes from one limit. */
export interface Charge {
  readonly policy: AppliedLimit;
  /** See `amountOf`. */
  readonly cost: number;
}

/** Which requests of its organization a limit counts, in the ledger's terms. */
export interface CountedRequests {
  /** Null: any user. */
  readonly userId: string | null;
  /** Null: any key, or none. */
  readonly keyId: string | null;
  /** Of this team or of one below it. Left out: of any team, or none. */
  readonly teamId?: string;
  readonly scopeType: LimitScopeType | BudgetTargetType;
  readonly scopeId: string | null;
}

/** A limit as error bodies name it. */
export interface PolicyDescription {
  readonly id: string;
  readonly policy_kind: 'resource' | 'user' | 'api_key' | 'team';
  /** For a member or key limit, its target. */
  readonly scope_type: LimitScopeType | BudgetTargetType;
  readonly scope_id: string | null;
  readonly metric: LimitMetric;
  readonly period: LimitPeriod;
  readonly limit_value: number;
}

/** One limit in force, for the engine and for people. */
export interface Limit {
  readonly applied: AppliedLimit;
  readonly described: PolicyDescription;
  /** It counts spend, and requests without a price must not pass it uncounted. */
  readonly needsPrice: boolean;
}

export function resourceLimit(policy: LimitPolicy): Limit {
  const { scopeType, scopeId } = policy;
  return limit(policy, 'resource', { userId: null, keyId: null, scopeType, scopeId });
}

/** A limit on one member, over all their keys and sessions, on exactly one key, or on a team with the teams below it. */
export function budgetLimit(policy: BudgetPolicy): Limit {
  const { kind, subjectId, targetType, targetId } = policy;
  return limit(policy, kind, {
    userId: kind === 'user' ? subjectId : null,
    keyId: kind === 'api_key' ? subjectId : null,
    ...(kind === 'team' && { teamId: subjectId }),
    scopeType: targetType,
    scopeId: targetId,
  });
}

/** An endpoint's `max_concurrency` is a limit like any other; its id names the endpoint. */
export function endpointBound({ id }: Endpoint, maxConcurrency: number): Limit {
  const bound = {
    id: `endpoint:${id}:max_concurrency`,
    metric: 'concurrency',
    period: 'none',
    limitValue: maxConcurrency,
  } as const;
  const counts = { userId: null, keyId: null, scopeType: 'endpoint', scopeId: id } as const;
  const { applied, ...rest } = limit(bound, 'resource', counts);
  return { applied: { ...applied, id: bound.id }, ...rest };
}

/** What a limit looks at. */
export type LimitedScope = Pick<CountedRequests, 'scopeType' | 'scopeId'>;

/** Everything that a limit may look at to count a request of this lane, or of none, before it has a candidate. */
export function laneScopesOf(laneId: string | null): readonly LimitedScope[] {
  return [
    { scopeType: 'global', scopeId: null },
    ...(laneId === null ? [] : [{ scopeType: 'lane', scopeId: laneId } as const]),
  ];
}

/** The same, once this candidate serves it. */
export function scopesOf(
  laneId: string | null,
  { endpoint, provider, credential }: Candidate,
): readonly LimitedScope[] {
  // A provider that wants no authentication is sent no credential, whichever it has.
  const sent = authStyles[provider.authMode].needsSecret ? credential : null;
  return [
    ...laneScopesOf(laneId),
    { scopeType: 'provider', scopeId: provider.id },
    { scopeType: 'endpoint', scopeId: endpoint.id },
    { scopeType: 'model', scopeId: endpoint.id },
    ...(sent === null ? [] : [{ scopeType: 'credential', scopeId: sent.id } as const]),
  ];
}

function limit(
  policy: Pick<
    LimitPolicy,
    'id' | 'metric' | 'period' | 'limitValue' | 'unpriced' | 'enforcement' | 'counter'
  >,
  kind: PolicyDescription['policy_kind'],
  counts: CountedRequests,
): Limit {
  const { id, metric, period, limitValue } = policy;
  const { scopeType, scopeId } = counts;
  return {
    applied: {
      id: counterOf(policy, scopeId),
      metric,
      period,
      limit: limitValue,
      ...(policy.enforcement === 'hard' && { hard: true }),
      counts,
    },
    described: {
      id,
      policy_kind: kind,
      scope_type: scopeType,
      scope_id: scopeId,
      metric,
      period,
      limit_value: limitValue,
    },
    needsPrice:
      METRICS[metric].quantity === 'spend' && (policy.unpriced !== 'allow' || policy.enforcement === 'hard'),
  };
}

/** A limit as people know it, from what the engine knows of it. */
export function describeApplied({
  id,
  metric,
  period,
  limit: value,
  counts,
}: AppliedLimit): PolicyDescription {
  return {
    id: id.replace(COUNTER_SUFFIX, ''),
    policy_kind: kindOf(counts),
    scope_type: counts.scopeType,
    scope_id: counts.scopeId,
    metric,
    period,
    limit_value: value,
  };
}

function kindOf({ userId, keyId, teamId }: CountedRequests): PolicyDescription['policy_kind'] {
  if (userId !== null) return 'user';
  if (keyId !== null) return 'api_key';
  return teamId === undefined ? 'resource' : 'team';
}

const COUNTER_SUFFIX = /[@#].*$/;

/** Only calendar windows are rebuilt from the ledger; what runs now and short windows go on counting. */
function counterOf(
  { id, period, counter = 0 }: Pick<LimitPolicy, 'id' | 'period' | 'counter'>,
  scopeId: string | null,
): string {
  const scoped = scopeId === null ? id : `${id}@${scopeId}`;
  return counter === 0 || period === 'none' || isSliding(period) ? scoped : `${scoped}#${counter}`;
}
