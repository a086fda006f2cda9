import type { Operation } from '@relay/contract';
import { type AskingCaller, capacityAsk } from '../../admission/capacity-ask.ts';
import type { AdmissionAsk } from '../../admission/engine.ts';
import { boundEstimate } from '../../domain/limits/bound-estimate.ts';
import type { RequestMost } from '../../domain/limits/hard-reservation.ts';
import { describeApplied } from '../../domain/limits/limit.ts';
import { limitRules } from '../../domain/limits/limit-rules.ts';
import { chargesFor, hardReservation, hasPolicies, type LimitedCaller } from '../../domain/limits/limits.ts';
import type { TokenEstimate, Usage } from '../../domain/money/usage.ts';
import { type Candidate, type Route, routingTableOf } from '../../domain/routing/routing.ts';
import { fitCandidates } from '../../domain/routing/unfit.ts';
import type { BudgetPolicy, OrganizationSnapshot } from '../../domain/snapshot.ts';
import { entryIn } from '../../kit/entry-in.ts';
import { AskedRequest } from '../../protocols/asked-request.ts';
import { protocols } from '../../protocols/index.ts';
import type { ReplayedRequest, TypicalService } from './replayed-request.ts';

/** Leases never run out: a replay has no process that could die. */
const LEASE_MS = Number.MAX_SAFE_INTEGER / 4;
const NO_AMOUNTS = { tokens: 0, spendMicros: 0 };
const NO_POLICIES: readonly BudgetPolicy[] = [];

export type KeysOfReplay = ReadonlyMap<
  string,
  { readonly policies: readonly BudgetPolicy[]; readonly teamId: string | null }
>;

export interface RoutingOfReplay {
  readonly snapshot: OrganizationSnapshot;
  readonly keys: KeysOfReplay;
  readonly typical: TypicalService;
  readonly waitersMax: number;
  /** Null for an edit of something else. */
  readonly editedLimitId: string | null;
  /** Filled as operations are seen. */
  readonly asked: Map<Operation, AskedRequest>;
  /** By what a route depends on, filled as requests are seen: most of them are alike. */
  readonly routes: Map<string, RouteOfReplay | RouteError>;
}

type RouteError = 'model_not_found' | 'no_route';

interface RouteOfReplay {
  readonly route: Route;
  readonly model: string;
  readonly caller: AskingCaller;
  readonly candidates: readonly Candidate[];
  /** Whether any limit applies to the caller. */
  readonly isLimited: boolean;
  /** Whether the edited limit does, at any candidate. */
  readonly isOfEditedLimit: boolean;
}

export interface RoutedReplay {
  readonly route: Route;
  readonly caller: LimitedCaller;
  readonly candidates: readonly Candidate[];
  readonly serviceMs: number;
  readonly usage: Usage;
  /** Asks for one of these candidates. */
  readonly ask: (
    offered: readonly Candidate[],
    more: Pick<AdmissionAsk, 'waitMsMax' | 'release'>,
  ) => AdmissionAsk;
}

/** As the gateway routes a request and asks for its capacity. Returns the error code where nothing can serve it. */
export function routeReplayed(routing: RoutingOfReplay, request: ReplayedRequest): RoutedReplay | RouteError {
  const { snapshot, waitersMax } = routing;
  const routed = knownRoute(routing, request);
  if (typeof routed === 'string') return routed;
  const { route, model, caller, candidates, isLimited } = routed;
  const { usage, serviceMs, estimate: guess } = routing.typical.of(request);
  const estimate = boundEstimate(snapshot, caller, route, candidates, null, guess);
  const reserved = (candidate: Candidate) =>
    isLimited ? hardReservation(snapshot, caller, route, candidate, () => mostOf(estimate, usage), 0) : null;
  return {
    route,
    caller,
    candidates,
    serviceMs,
    usage,
    ask: (offered, more) => ({
      ...capacityAsk(snapshot, caller, {
        route,
        model,
        candidates: offered,
        estimate,
        reservations: offered.map(reserved),
      }),
      operationId: request.id,
      waitersMax,
      leaseMs: LEASE_MS,
      draft: '',
      ...more,
    }),
  };
}

/** Whether the limit that the edit is of applies to the request. */
export function isOfEditedLimit(routing: RoutingOfReplay, request: ReplayedRequest): boolean {
  const routed = knownRoute(routing, request);
  return typeof routed !== 'string' && routed.isOfEditedLimit;
}

function knownRoute(routing: RoutingOfReplay, request: ReplayedRequest): RouteOfReplay | RouteError {
  const { keyId, userId, model: name, laneId, operation, streaming } = request;
  const alike = `${keyId} ${userId} ${laneId} ${operation} ${streaming} ${name}`;
  return entryIn(routing.routes, alike, () => routeOf(routing, request));
}

function routeOf(
  { snapshot, keys, asked, editedLimitId }: RoutingOfReplay,
  request: ReplayedRequest,
): RouteOfReplay | RouteError {
  const model = request.model ?? snapshot.lanes.get(request.laneId ?? '')?.slug ?? '';
  const route = routingTableOf(snapshot).resolve(model);
  if (route === undefined) return 'model_not_found';
  const terms = keys.get(request.keyId ?? '');
  const caller = {
    organizationId: snapshot.organizationId,
    userId: request.userId ?? '',
    keyId: request.keyId,
    keyPolicies: terms?.policies ?? NO_POLICIES,
    keyTeamId: terms?.teamId ?? null,
  };
  const rules = limitRules(snapshot, caller, route);
  const shape = entryIn(asked, request.operation, askedAs);
  const candidates = fitCandidates(route.members, shape, request.streaming, rules);
  if (candidates.length === 0) return 'no_route';
  const isOfEditedLimit =
    editedLimitId !== null &&
    candidates.some((candidate) =>
      chargesFor(snapshot, caller, route, candidate, NO_AMOUNTS).some(
        ({ policy }) => describeApplied(policy).id === editedLimitId,
      ),
    );
  return { route, model, caller, candidates, isLimited: hasPolicies(snapshot, caller), isOfEditedLimit };
}

/** Bodies are not kept: the smallest one reaches every endpoint whose protocol it can be translated to. */
function askedAs(operation: Operation): AskedRequest {
  const protocol = protocols[operation];
  const body = { ...protocol.probe.request('model') };
  const measured = protocol.request.measure(body);
  if (measured === null) throw new RangeError('the smallest body nests too deep');
  return new AskedRequest(protocol, measured, () => body);
}

/** What a request could have used at most is not kept either: hard limits reserve its estimate, or what it used if that is more. */
function mostOf(estimate: TokenEstimate, usage: Usage): RequestMost {
  return {
    hasOutput: true,
    outputCap: Math.max(estimate.outputTokens, usage.outputTokens),
    unboundedOutput: null,
    outputAtLeast: 0,
    choices: 1,
    predictedTokens: 0,
    inputTokens: Math.max(estimate.inputTokens, usage.inputTokens),
    unboundedInput: null,
    ...(usage.free === true && { free: true as const }),
  };
}
