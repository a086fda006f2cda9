import assert from 'node:assert/strict';
import { type Candidate, type Route, routingTableOf } from '../routing/routing.ts';
import { credential, endpoint, lane, member, provider, snapshot } from '../snapshot.fixture.ts';
import type { BudgetPolicy, LimitPolicy, LimitScopeType, OrganizationSnapshot } from '../snapshot.ts';
import type { CountedRequests } from './limit.ts';
import { chargesFor, type LimitedCaller } from './limits.ts';
import { METRICS, type UsedAmounts } from './metric.ts';

/** For tests: one organization with two lanes over three endpoints, and what a request is charged there. */
/** What a limit on the whole organization counts. */
export const EVERY_REQUEST: CountedRequests = {
  userId: null,
  keyId: null,
  scopeType: 'global',
  scopeId: null,
};
/** A caller without limits of its own. */
export const ANYONE: LimitedCaller = { userId: 'anyone', keyPolicies: [] };
export const AMOUNTS = { tokens: 70, spendMicros: 900 };

/** Every way to name what serves a request: as a lane by slug or name, as provider/model, as a bare model. */
export const ROUTES = ['fast', 'Fast Lane', 'p1/gpt', 'p2/gpt', 'gpt', 'slow'] as const;

export function organization(
  limitPolicies: LimitPolicy[],
  over: { maxConcurrency?: number } & Pick<
    Parameters<typeof snapshot>[0],
    'userPolicies' | 'teams' | 'teamPolicies' | 'members'
  > = {},
): OrganizationSnapshot {
  return snapshot({
    providers: [provider('p1'), provider('p2'), provider('open', { authMode: 'none' })],
    credentials: [credential('c1', 'p1'), credential('c2', 'p2'), credential('unsent', 'open')],
    endpoints: [
      endpoint('e1', 'p1', 'gpt', { createdAtMs: 1, maxConcurrency: over.maxConcurrency ?? null }),
      endpoint('e2', 'p2', 'gpt', { createdAtMs: 2, credentialId: 'c2' }),
      endpoint('e3', 'open', 'gpt', { createdAtMs: 3 }),
    ],
    lanes: [lane('l1', { name: 'Fast Lane', slug: 'fast' }), lane('l2', { name: 'slow', slug: 'slow' })],
    memberships: ['l1', 'l2'].flatMap((laneId) =>
      ['e1', 'e2', 'e3'].map((endpointId, rank) => member(laneId, endpointId, rank)),
    ),
    limitPolicies,
    userPolicies: over.userPolicies ?? [],
    teams: over.teams ?? [],
    teamPolicies: over.teamPolicies ?? [],
    members: over.members ?? [],
  });
}

export function policy(id: string, over: Partial<LimitPolicy> = {}): LimitPolicy {
  const metric = over.metric ?? 'requests';
  return {
    id,
    scopeType: 'global',
    scopeId: null,
    metric,
    period: METRICS[metric].held ? 'none' : 'minute',
    limitValue: 100,
    enabled: true,
    ...over,
  };
}

export function budget(
  kind: BudgetPolicy['kind'],
  id: string,
  over: Partial<BudgetPolicy> = {},
): BudgetPolicy {
  const metric = over.metric ?? 'requests';
  return {
    id,
    kind,
    subjectId: kind === 'user' ? 'anne' : 'k1',
    targetType: 'global',
    targetId: null,
    metric,
    period: METRICS[metric].held ? 'none' : 'day',
    limitValue: 10,
    ...over,
  };
}

export function routeOf(organized: OrganizationSnapshot, model: string): Route {
  const route = routingTableOf(organized).resolve(model);
  assert.ok(route, model);
  return route;
}

export function candidateOf(organized: OrganizationSnapshot, model: string, endpointId: string): Candidate {
  const found = routeOf(organized, model).members.find(
    ({ candidate }) => candidate.endpoint.id === endpointId,
  );
  assert.ok(found, `${endpointId} of ${model}`);
  return found.candidate;
}

export function chargesAt(
  organized: OrganizationSnapshot,
  caller: LimitedCaller,
  model: string,
  endpointId: string,
  amounts: UsedAmounts = AMOUNTS,
) {
  const candidate = candidateOf(organized, model, endpointId);
  return chargesFor(organized, caller, routeOf(organized, model), candidate, amounts);
}

/** Ids of the policies that a request is charged to. */
export function charged(
  organized: OrganizationSnapshot,
  caller: LimitedCaller,
  model: string,
  endpointId: string,
) {
  return chargesAt(organized, caller, model, endpointId).map(({ policy: { id } }) => id.split('@')[0]);
}

/** The rules in other words: which resource a policy of each kind looks at. */
export function touches(
  { scopeType, scopeId }: LimitPolicy,
  route: Route,
  { endpoint, provider }: Candidate,
) {
  const usedCredential = { p1: 'c1', p2: 'c2' }[provider.id] ?? null;
  const looksAt: Record<LimitScopeType, string | null> = {
    global: null,
    provider: provider.id,
    credential: usedCredential,
    endpoint: endpoint.id,
    lane: route.lane?.id ?? 'no lane at all',
  };
  return scopeType === 'global' || (scopeId !== null && looksAt[scopeType] === scopeId);
}
