import { entryIn } from '../../kit/entry-in.ts';
import { finish, type Steps, stepsOver } from '../../kit/slices.ts';
import type { Caller } from '../caller.ts';
import { costMicros } from '../money/money.ts';
import { highestPrices } from '../money/most-cost.ts';
import type { TokenEstimate } from '../money/usage.ts';
import type { Candidate, Route } from '../routing/routing.ts';
import type { BudgetPolicy, Endpoint, OrganizationSnapshot, Pricing } from '../snapshot.ts';
import { teamsOf } from '../teams.ts';
import { type RequestMost, type Reservation, reservationAt } from './hard-reservation.ts';
import {
  budgetLimit,
  type Charge,
  endpointBound,
  type Limit,
  laneScopesOf,
  type PolicyDescription,
  resourceLimit,
  scopesOf,
} from './limit.ts';
import { chargesAt, describedIn, type LimitTable, limitsOn, newTable } from './limit-table.ts';
import { amountOf, METRICS, type UsedAmounts } from './metric.ts';

/** The part of a caller that selects its own limits. */
export type LimitedCaller = Pick<Caller, 'userId' | 'keyPolicies' | 'keyTeamId'>;

interface SnapshotTables {
  /** Shared limits, then the endpoints' own concurrency limits: they apply to every caller. */
  readonly everybody: LimitTable;
  /** Teams that they or their parents have limits of, filled on first use. */
  readonly teams: Map<string, LimitTable>;
  /** Members with limits of their own, by the table of their team, filled on first use. */
  readonly members: Map<LimitTable, Map<string, LimitTable>>;
  /** By the list of the key's limits, which lives as long as this process holds the key. */
  readonly keys: WeakMap<readonly BudgetPolicy[], LimitTable>;
}

// A cache, not state: each entry follows from its key and is collected with it.
const snapshotTables = new WeakMap<OrganizationSnapshot, SnapshotTables>();

/** False when no limit applies to any request of this caller. */
export function hasPolicies(snapshot: OrganizationSnapshot, caller: LimitedCaller): boolean {
  return tableOf(snapshot, caller).limits;
}

/** Whether a hard limit applies to some requests of this caller. */
export function hasHardLimits(snapshot: OrganizationSnapshot, caller: LimitedCaller): boolean {
  return tableOf(snapshot, caller).hard;
}

/**
 * What a request takes from every limit that applies when this candidate serves it: shared limits, then those of the team's
 * parent, of the team, of the member and of the key. The list is built once per caller, lane and endpoint of a snapshot and keeps its order.
 * `hardAmounts`: what hard limits count, if it is something else.
 */
export function chargesFor(
  snapshot: OrganizationSnapshot,
  caller: LimitedCaller,
  route: Pick<Route, 'lane'>,
  candidate: Candidate,
  amounts: UsedAmounts,
  hardAmounts: UsedAmounts = amounts,
): readonly Charge[] {
  const table = tableOf(snapshot, caller);
  const { units, estimated } = chargesAt(table, route.lane?.id ?? null, candidate);
  if (!estimated) return units;
  return units.map((unit) => {
    const cost = amountOf(unit.policy.metric, unit.policy.hard ? hardAmounts : amounts);
    return cost === unit.cost ? unit : { policy: unit.policy, cost };
  });
}

/** Every limit that counts requests of this lane to any of these candidates, each once; without a candidate, those that need none. */
export function limitsCounting(
  snapshot: OrganizationSnapshot,
  caller: LimitedCaller,
  laneId: string | null,
  candidates: readonly Candidate[],
): readonly Limit[] {
  const scopes = [...laneScopesOf(laneId), ...candidates.flatMap((candidate) => scopesOf(laneId, candidate))];
  return [...new Set(limitsOn(tableOf(snapshot, caller), scopes))];
}

/**
 * The limit on spend that keeps this candidate from serving: the candidate has no price, and what cannot be counted must not pass
 * for free. Null when it may serve.
 */
export function unpricedBy(
  snapshot: OrganizationSnapshot,
  caller: LimitedCaller,
  route: Pick<Route, 'lane'>,
  candidate: Candidate,
): Limit | null {
  if (snapshot.pricing.has(candidate.endpoint.id)) return null;
  return chargesAt(tableOf(snapshot, caller), route.lane?.id ?? null, candidate).needsPrice;
}

/** The first hard limit that a request to this candidate is charged to; null for none. */
export function hardLimitAt(
  snapshot: OrganizationSnapshot,
  caller: LimitedCaller,
  route: Pick<Route, 'lane'>,
  candidate: Candidate,
): PolicyDescription | null {
  return chargesAt(tableOf(snapshot, caller), route.lane?.id ?? null, candidate).hard;
}

/** What a request reserves from the hard limits of this candidate; null where there are none. `cap`: what Relay would write at most. */
export function hardReservation(
  snapshot: OrganizationSnapshot,
  caller: LimitedCaller,
  route: Pick<Route, 'lane'>,
  candidate: Candidate,
  most: (endpoint: Endpoint) => RequestMost,
  cap: number,
): Reservation | null {
  const { hard, units } = chargesAt(tableOf(snapshot, caller), route.lane?.id ?? null, candidate);
  if (hard === null) return null;
  const limits = units.map(({ policy }) => policy).filter((policy) => policy.hard);
  return reservationAt(
    most(candidate.endpoint),
    candidate.endpoint,
    snapshot.pricing.get(candidate.endpoint.id),
    limits,
    cap,
  );
}

/** Limits on spend count configured prices only. Without a price, a limit that allows that counts nothing. */
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

/**
 * The charges of an estimated request. Hard limits take what is reserved. A limit that may turn out to count something is charged nothing until
 * then; where nothing can be counted, a full window does not delay the request.
 */
export function estimatedCharges(
  snapshot: OrganizationSnapshot,
  caller: LimitedCaller,
  route: Pick<Route, 'lane'>,
  candidate: Candidate,
  estimate: TokenEstimate,
  reservation: Reservation | null,
): readonly Charge[] {
  const { units, estimated } = chargesAt(tableOf(snapshot, caller), route.lane?.id ?? null, candidate);
  // Every request costs the same under these limits, so no price has to be computed.
  if (!estimated) return units;
  const amounts = estimatedAmounts(snapshot, candidate, estimate);
  const charges = chargesFor(snapshot, caller, route, candidate, amounts, reservation ?? amounts);
  if (amounts.spendMicros > 0) return charges;
  if (estimate.free === true) return charges.filter(({ cost }) => cost > 0);
  if (isEverPriced(snapshot.pricing.get(candidate.endpoint.id))) return charges;
  return charges.filter(({ policy, cost }) => cost > 0 || METRICS[policy.metric].quantity !== 'spend');
}

/** True if any price of the endpoint is above 0, because only the response shows which price a request pays. */
function isEverPriced(pricing: Pricing | undefined): boolean {
  if (pricing === undefined) return false;
  const highest = highestPrices(pricing, Number.POSITIVE_INFINITY);
  const { inputCostMicrosPer1mTokens, outputCostMicrosPer1mTokens, flatRequestCostMicros } = highest;
  return inputCostMicrosPer1mTokens > 0 || outputCostMicrosPer1mTokens > 0 || flatRequestCostMicros > 0;
}

/** By the engine's id of the limit; null when it no longer applies to this caller. */
export function describePolicy(
  snapshot: OrganizationSnapshot,
  caller: LimitedCaller,
  appliedId: string,
): PolicyDescription | null {
  return describedIn(tableOf(snapshot, caller), appliedId);
}

/** Resolves the limits of a snapshot that all callers share. */
export function* prepareLimits(snapshot: OrganizationSnapshot): Steps<SnapshotTables> {
  const limits: Limit[] = [];
  yield* stepsOver(snapshot.limitPolicies, (policy) => limits.push(resourceLimit(policy)));
  yield* stepsOver(snapshot.endpoints.values(), (endpoint) => {
    if (endpoint.maxConcurrency !== null) limits.push(endpointBound(endpoint, endpoint.maxConcurrency));
  });
  const everybody = yield* newTable(null, limits);
  const tables: SnapshotTables = { everybody, teams: new Map(), members: new Map(), keys: new WeakMap() };
  snapshotTables.set(snapshot, tables);
  return tables;
}

/** The values of the limits in force by the engine's id: all of the organization, and those of these keys. */
export function limitValues(
  snapshot: OrganizationSnapshot,
  keyPolicies: readonly BudgetPolicy[],
): ReadonlyMap<string, number> {
  return new Map(
    limitsInForce(snapshot, keyPolicies).map(({ applied }) => [applied.id, applied.limit] as const),
  );
}

/** All limits of the organization, and those of these keys. */
export function limitsInForce(
  snapshot: OrganizationSnapshot,
  keyPolicies: readonly BudgetPolicy[],
): readonly Limit[] {
  return [
    ...tablesOf(snapshot).everybody.own,
    ...[...snapshot.teamPolicies.values()].flat().map(budgetLimit),
    ...[...snapshot.userPolicies.values()].flat().map(budgetLimit),
    ...keyPolicies.map(budgetLimit),
  ];
}

function tablesOf(snapshot: OrganizationSnapshot): SnapshotTables {
  return snapshotTables.get(snapshot) ?? finish(prepareLimits(snapshot));
}

/** The narrowest table with all limits of this caller; callers without limits of their own share one. */
function tableOf(snapshot: OrganizationSnapshot, caller: LimitedCaller): LimitTable {
  const { userId, keyPolicies } = caller;
  const tables = tablesOf(snapshot);
  const member = memberTable(
    snapshot,
    tables,
    teamTable(snapshot, tables, teamsOf(snapshot, caller)),
    userId,
  );
  if (keyPolicies.length === 0) return member;
  const known = tables.keys.get(keyPolicies);
  if (known !== undefined) return known;
  const made = finish(newTable(member, keyPolicies.map(budgetLimit)));
  tables.keys.set(keyPolicies, made);
  return made;
}

/** `teams`: a team, and its parent. */
function teamTable(
  snapshot: OrganizationSnapshot,
  tables: SnapshotTables,
  [teamId, ...parents]: readonly string[],
): LimitTable {
  if (teamId === undefined) return tables.everybody;
  const known = tables.teams.get(teamId);
  if (known !== undefined) return known;
  const above = teamTable(snapshot, tables, parents);
  const policies = snapshot.teamPolicies.get(teamId);
  const made = policies === undefined ? above : finish(newTable(above, policies.map(budgetLimit)));
  tables.teams.set(teamId, made);
  return made;
}

function memberTable(
  snapshot: OrganizationSnapshot,
  { members }: SnapshotTables,
  team: LimitTable,
  userId: string,
): LimitTable {
  const policies = snapshot.userPolicies.get(userId);
  if (policies === undefined) return team;
  const ofTeam = entryIn(members, team, () => new Map<string, LimitTable>());
  return entryIn(ofTeam, userId, () => finish(newTable(team, policies.map(budgetLimit))));
}
