import type { TokenEstimate } from './estimate.ts';
import { costMicros } from './money.ts';
import type { Candidate, Route } from './routing.ts';
import type {
  LimitMetric,
  LimitPeriod,
  LimitPolicy,
  LimitScopeType,
  OrganizationSnapshot,
} from './snapshot.ts';

/** A limit as the engine counts it: already resolved to the requests it applies to. */
export interface AppliedLimit {
  readonly id: string;
  readonly metric: LimitMetric;
  readonly period: LimitPeriod;
  readonly limit: number;
}

/** What one request takes from one limit. */
export interface LimitCharge {
  readonly policy: AppliedLimit;
  readonly cost: number;
}

/** What one request is expected to use at one candidate. */
export interface LimitAmounts {
  readonly tokens: number;
  readonly spendMicros: number;
}

/** A limit as error bodies name it. */
export interface PolicyDescription {
  readonly id: string;
  readonly scope_type: LimitScopeType;
  readonly scope_id: string | null;
  readonly metric: LimitMetric;
  readonly period: LimitPeriod;
  readonly limit_value: number;
}

interface LimitTable {
  /** Configured policies by id, then the endpoints' own bounds on concurrency. */
  readonly inForce: readonly LimitPolicy[];
  readonly byId: ReadonlyMap<string, LimitPolicy>;
  /** Lane id, or nothing for a route without a lane → endpoint id → what a request there is charged. */
  readonly charges: Map<string | null, Map<string, CandidateCharges>>;
}

interface CandidateCharges {
  /** At a cost of 1, which is what requests and concurrency cost. */
  readonly units: readonly LimitCharge[];
  /** Whether any of them costs what the request is estimated at. */
  readonly estimated: boolean;
}

// A memo, not state: what it holds follows from its key alone and goes away with it.
const limitTables = new WeakMap<OrganizationSnapshot, LimitTable>();

/** False when no request of the organization is limited by anything. */
export function hasPolicies(snapshot: OrganizationSnapshot): boolean {
  return limitTableOf(snapshot).inForce.length > 0;
}

/**
 * What a request takes from every limit that applies when this candidate serves it. Which limits those are is
 * worked out once per snapshot, lane and endpoint; the order never changes within a snapshot.
 */
export function chargesFor(
  snapshot: OrganizationSnapshot,
  route: Pick<Route, 'lane'>,
  candidate: Candidate,
  amounts: LimitAmounts,
): readonly LimitCharge[] {
  const { units, estimated } = candidateCharges(limitTableOf(snapshot), route, candidate);
  if (!estimated) return units;
  return units.map((unit) => {
    const { metric } = unit.policy;
    if (metric === 'tokens') return { policy: unit.policy, cost: amounts.tokens };
    return metric === 'spend' ? { policy: unit.policy, cost: amounts.spendMicros } : unit;
  });
}

/** An endpoint without a price spends nothing: limits on spend count configured prices only. */
export function estimatedAmounts(
  snapshot: OrganizationSnapshot,
  candidate: Candidate,
  estimate: TokenEstimate,
): LimitAmounts {
  const pricing = snapshot.pricing.get(candidate.endpoint.id);
  return {
    tokens: estimate.inputTokens + estimate.outputTokens,
    spendMicros: pricing === undefined ? 0 : costMicros(pricing, { ...estimate, cachedInputTokens: 0 }),
  };
}

/** Null for a policy that is no longer in force. */
export function describePolicy(snapshot: OrganizationSnapshot, policyId: string): PolicyDescription | null {
  const policy = limitTableOf(snapshot).byId.get(policyId);
  if (policy === undefined) return null;
  return {
    id: policy.id,
    scope_type: policy.scopeType,
    scope_id: policy.scopeId,
    metric: policy.metric,
    period: policy.period,
    limit_value: policy.limitValue,
  };
}

/** The limit as the engine's calls take it. */
export function appliedLimit({ id, metric, period, limitValue }: LimitPolicy): AppliedLimit {
  return { id, metric, period, limit: limitValue };
}

function limitTableOf(snapshot: OrganizationSnapshot): LimitTable {
  const known = limitTables.get(snapshot);
  if (known !== undefined) return known;
  const inForce = [...snapshot.limitPolicies, ...endpointBounds(snapshot)];
  const table: LimitTable = {
    inForce,
    byId: new Map(inForce.map((policy) => [policy.id, policy])),
    charges: new Map(),
  };
  limitTables.set(snapshot, table);
  return table;
}

/** An endpoint's `max_concurrency` is a policy like any other; its id says where it is set. */
function endpointBounds(snapshot: OrganizationSnapshot): LimitPolicy[] {
  const bounds: LimitPolicy[] = [];
  for (const { id, maxConcurrency } of snapshot.endpoints.values()) {
    if (maxConcurrency === null) continue;
    bounds.push({
      id: `endpoint:${id}:max_concurrency`,
      scopeType: 'endpoint',
      scopeId: id,
      metric: 'concurrency',
      period: 'none',
      limitValue: maxConcurrency,
      enabled: true,
    });
  }
  return bounds;
}

/** Filled as routes are used: at most one entry per lane and endpoint of the snapshot. */
function candidateCharges(
  table: LimitTable,
  route: Pick<Route, 'lane'>,
  candidate: Candidate,
): CandidateCharges {
  const laneId = route.lane?.id ?? null;
  let ofLane = table.charges.get(laneId);
  if (ofLane === undefined) {
    ofLane = new Map();
    table.charges.set(laneId, ofLane);
  }
  const known = ofLane.get(candidate.endpoint.id);
  if (known !== undefined) return known;
  const applying = table.inForce.filter((policy) => applies(policy, laneId, candidate));
  const made: CandidateCharges = {
    units: applying.map((policy) => ({ policy: appliedLimit(policy), cost: 1 })),
    estimated: applying.some(({ metric }) => metric === 'tokens' || metric === 'spend'),
  };
  ofLane.set(candidate.endpoint.id, made);
  return made;
}

function applies(policy: LimitPolicy, laneId: string | null, candidate: Candidate): boolean {
  switch (policy.scopeType) {
    case 'global':
      return true;
    case 'provider':
      return policy.scopeId === candidate.provider.id;
    case 'credential':
      // A provider that wants no authentication is sent no credential, whichever it has.
      return candidate.provider.authMode !== 'none' && policy.scopeId === candidate.credential?.id;
    case 'endpoint':
      return policy.scopeId === candidate.endpoint.id;
    case 'lane':
      return laneId !== null && policy.scopeId === laneId;
  }
}
