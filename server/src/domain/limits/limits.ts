import type { Caller } from '../caller.ts';
import { costMicros } from '../money/money.ts';
import type { TokenEstimate } from '../money/usage.ts';
import type { Candidate, Route } from '../routing/routing.ts';
import type { BudgetPolicy, OrganizationSnapshot } from '../snapshot.ts';
import {
  budgetLimit,
  type Charge,
  endpointBound,
  isCounted,
  type Limit,
  type PolicyDescription,
  resourceLimit,
} from './limit.ts';
import { amountOf, isUnitCost, type UsedAmounts } from './metric.ts';

/** The part of a caller that selects its own limits. */
export type LimitedCaller = Pick<Caller, 'userId' | 'keyPolicies'>;

/** The limits of one kind of caller: those shared with a wider table, then its own. */
interface LimitTable {
  readonly shared: LimitTable | null;
  readonly own: readonly Limit[];
  /** Whether it has any limit, shared or own. */
  readonly limits: boolean;
  /** Lane id (null without a lane) → endpoint id → the charges of a request there. */
  readonly charges: Map<string | null, Map<string, CandidateCharges>>;
}

interface CandidateCharges {
  /** At a cost of 1, which is what every request costs under a limit on requests or concurrency. */
  readonly units: readonly Charge[];
  /** Whether any cost depends on the request's estimate. */
  readonly estimated: boolean;
}

interface SnapshotTables {
  /** Shared limits, then the endpoints' own concurrency limits: they apply to every caller. */
  readonly everybody: LimitTable;
  /** Members with limits of their own, filled on first use. */
  readonly members: Map<string, LimitTable>;
  /** By the list of the key's limits, which lives as long as this process holds the key. */
  readonly keys: WeakMap<readonly BudgetPolicy[], LimitTable>;
}

// A cache, not state: each entry follows from its key and is collected with it.
const snapshotTables = new WeakMap<OrganizationSnapshot, SnapshotTables>();

/** False when no limit applies to any request of this caller. */
export function hasPolicies(snapshot: OrganizationSnapshot, caller: LimitedCaller): boolean {
  return tableOf(snapshot, caller).limits;
}

/**
 * What a request takes from every limit that applies when this candidate serves it: shared limits, then those of the
 * member and of the key. The list is built once per caller, lane and endpoint of a snapshot and keeps its order.
 */
export function chargesFor(
  snapshot: OrganizationSnapshot,
  caller: LimitedCaller,
  route: Pick<Route, 'lane'>,
  candidate: Candidate,
  amounts: UsedAmounts,
): readonly Charge[] {
  const table = tableOf(snapshot, caller);
  const { units, estimated } = candidateCharges(table, route.lane?.id ?? null, candidate);
  if (!estimated) return units;
  return units.map((unit) => {
    const cost = amountOf(unit.policy.metric, amounts);
    return cost === unit.cost ? unit : { policy: unit.policy, cost };
  });
}

/** Limits on spend count configured prices only, so an endpoint without a price costs nothing. */
export function estimatedAmounts(
  snapshot: OrganizationSnapshot,
  candidate: Candidate,
  estimate: TokenEstimate,
): UsedAmounts {
  const pricing = snapshot.pricing.get(candidate.endpoint.id);
  return {
    tokens: estimate.inputTokens + estimate.outputTokens,
    spendMicros: pricing === undefined ? 0 : costMicros(pricing, { ...estimate, cachedInputTokens: 0 }),
  };
}

/** The charges of an estimated request. One that costs nothing takes nothing, so a full window does not delay it. */
export function estimatedCharges(
  snapshot: OrganizationSnapshot,
  caller: LimitedCaller,
  route: Pick<Route, 'lane'>,
  candidate: Candidate,
  estimate: TokenEstimate,
): readonly Charge[] {
  const amounts = estimatedAmounts(snapshot, candidate, estimate);
  const charges = chargesFor(snapshot, caller, route, candidate, amounts);
  return amounts.spendMicros > 0 ? charges : charges.filter(({ cost }) => cost > 0);
}

/** By the engine's id of the limit; null when it no longer applies to this caller. */
export function describePolicy(
  snapshot: OrganizationSnapshot,
  caller: LimitedCaller,
  appliedId: string,
): PolicyDescription | null {
  // At most three turns: the key's limits, the member's, the shared ones.
  for (let table: LimitTable | null = tableOf(snapshot, caller); table !== null; table = table.shared) {
    const found = table.own.find(({ applied }) => applied.id === appliedId);
    if (found !== undefined) return found.described;
  }
  return null;
}

function tablesOf(snapshot: OrganizationSnapshot): SnapshotTables {
  const known = snapshotTables.get(snapshot);
  if (known !== undefined) return known;
  const bounds: Limit[] = [];
  for (const endpoint of snapshot.endpoints.values()) {
    if (endpoint.maxConcurrency !== null) bounds.push(endpointBound(endpoint, endpoint.maxConcurrency));
  }
  const tables: SnapshotTables = {
    everybody: newTable(null, [...snapshot.limitPolicies.map(resourceLimit), ...bounds]),
    members: new Map(),
    keys: new WeakMap(),
  };
  snapshotTables.set(snapshot, tables);
  return tables;
}

/** The narrowest table with all limits of this caller; callers without limits of their own share one. */
function tableOf(snapshot: OrganizationSnapshot, { userId, keyPolicies }: LimitedCaller): LimitTable {
  const tables = tablesOf(snapshot);
  const member = memberTable(snapshot, tables, userId);
  if (keyPolicies.length === 0) return member;
  const known = tables.keys.get(keyPolicies);
  if (known !== undefined) return known;
  const made = newTable(member, keyPolicies.map(budgetLimit));
  tables.keys.set(keyPolicies, made);
  return made;
}

function memberTable(snapshot: OrganizationSnapshot, tables: SnapshotTables, userId: string): LimitTable {
  const policies = snapshot.userPolicies.get(userId);
  if (policies === undefined) return tables.everybody;
  const known = tables.members.get(userId);
  if (known !== undefined) return known;
  const made = newTable(tables.everybody, policies.map(budgetLimit));
  tables.members.set(userId, made);
  return made;
}

function newTable(shared: LimitTable | null, own: readonly Limit[]): LimitTable {
  return { shared, own, limits: own.length > 0 || shared?.limits === true, charges: new Map() };
}

/** Filled as routes are used: at most one entry per lane and endpoint of the snapshot. */
function candidateCharges(table: LimitTable, laneId: string | null, candidate: Candidate): CandidateCharges {
  let ofLane = table.charges.get(laneId);
  if (ofLane === undefined) {
    ofLane = new Map();
    table.charges.set(laneId, ofLane);
  }
  const known = ofLane.get(candidate.endpoint.id);
  if (known !== undefined) return known;
  const shared = table.shared === null ? null : candidateCharges(table.shared, laneId, candidate);
  const applying = table.own.filter(({ applied }) => isCounted(applied.counts, laneId, candidate));
  const made: CandidateCharges = {
    units: [...(shared?.units ?? []), ...applying.map(({ applied }) => ({ policy: applied, cost: 1 }))],
    estimated: shared?.estimated === true || applying.some(({ applied: { metric } }) => !isUnitCost(metric)),
  };
  ofLane.set(candidate.endpoint.id, made);
  return made;
}
