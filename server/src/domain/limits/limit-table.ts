import { entryIn } from '../../kit/entry-in.ts';
import { type Steps, stepsOver } from '../../kit/slices.ts';
import type { Candidate } from '../routing/routing.ts';
import {
  type Charge,
  type CountedRequests,
  type Limit,
  type LimitedScope,
  type PolicyDescription,
  scopesOf,
} from './limit.ts';
import { isUnitCost } from './metric.ts';

/**
 * The limits of one kind of caller: those shared with a wider table, then its own. Its own are found by what they look at, so that
 * 10,000 limits on other lanes and endpoints cost a request nothing.
 */
export interface LimitTable {
  readonly shared: LimitTable | null;
  /** Whether it has any limit, shared or own. */
  readonly limits: boolean;
  /** Whether one of them is hard. */
  readonly hard: boolean;
  readonly byScope: ReadonlyMap<
    CountedRequests['scopeType'],
    ReadonlyMap<string | null, readonly PlacedLimit[]>
  >;
  readonly own: readonly Limit[];
  /** By the engine's id, those that were asked for before: most limits are never named to anybody. */
  readonly described: Map<string, PolicyDescription>;
  /** Lane id (null without a lane) → endpoint id → the charges of a request there, filled as routes are used. */
  readonly charges: Map<string | null, Map<string, CandidateCharges>>;
}

interface PlacedLimit {
  /** In the list that the table was made of: charges keep its order. */
  readonly place: number;
  readonly limit: Limit;
}

export interface CandidateCharges {
  /** At a cost of 1, which is what every request costs under a limit on requests or concurrency. */
  readonly units: readonly Charge[];
  /** Whether any cost depends on the request's estimate. */
  readonly estimated: boolean;
  /** The first limit that needs a price; null for none. */
  readonly needsPrice: Limit | null;
  /** The first hard limit; null for none. */
  readonly hard: PolicyDescription | null;
}

export function* newTable(shared: LimitTable | null, own: readonly Limit[]): Steps<LimitTable> {
  const byScope = new Map<CountedRequests['scopeType'], Map<string | null, PlacedLimit[]>>();
  yield* stepsOver(own.entries(), ([place, limit]) => {
    const { scopeType, scopeId } = limit.applied.counts;
    const ofType = entryIn(byScope, scopeType, () => new Map<string | null, PlacedLimit[]>());
    entryIn(ofType, scopeId, () => []).push({ place, limit });
  });
  const limits = own.length > 0 || shared?.limits === true;
  const hard = shared?.hard === true || own.some(({ applied }) => applied.hard);
  return { shared, limits, hard, byScope, own, described: new Map(), charges: new Map() };
}

/** The charges of a request of this lane that this candidate serves. */
export function chargesAt(table: LimitTable, laneId: string | null, candidate: Candidate): CandidateCharges {
  const ofLane = entryIn(table.charges, laneId, () => new Map<string, CandidateCharges>());
  const known = ofLane.get(candidate.endpoint.id);
  if (known !== undefined) return known;
  const shared = table.shared === null ? null : chargesAt(table.shared, laneId, candidate);
  const limits = ownLimitsOn(table, scopesOf(laneId, candidate));
  const applying = limits.map(({ applied }) => ({ policy: applied, cost: 1 }));
  const made: CandidateCharges = {
    units: [...(shared?.units ?? []), ...applying],
    estimated: shared?.estimated === true || applying.some(({ policy: { metric } }) => !isUnitCost(metric)),
    needsPrice: shared?.needsPrice ?? limits.find(({ needsPrice }) => needsPrice) ?? null,
    hard: shared?.hard ?? limits.find(({ applied }) => applied.hard)?.described ?? null,
  };
  ofLane.set(candidate.endpoint.id, made);
  return made;
}

/** The limits of the table on any of these, shared ones first. */
export function limitsOn(table: LimitTable, scopes: readonly LimitedScope[]): readonly Limit[] {
  const shared = table.shared === null ? [] : limitsOn(table.shared, scopes);
  return [...shared, ...ownLimitsOn(table, scopes)];
}

function ownLimitsOn({ byScope }: LimitTable, scopes: readonly LimitedScope[]): readonly Limit[] {
  return scopes
    .flatMap(({ scopeType, scopeId }) => byScope.get(scopeType)?.get(scopeId) ?? [])
    .sort((a, b) => a.place - b.place)
    .map(({ limit }) => limit);
}

/** By the engine's id of the limit; null when the table has no such limit. */
export function describedIn(table: LimitTable, appliedId: string): PolicyDescription | null {
  // At most five turns: the key's limits, the member's, those of two teams, the shared ones.
  for (let each: LimitTable | null = table; each !== null; each = each.shared) {
    const known = each.described.get(appliedId);
    if (known !== undefined) return known;
    const found = each.own.find(({ applied }) => applied.id === appliedId);
    if (found === undefined) continue;
    each.described.set(appliedId, found.described);
    return found.described;
  }
  return null;
}
