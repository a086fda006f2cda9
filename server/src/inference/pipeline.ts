import type { AdmissionDesk } from '../admission/desk.ts';
import type { Actual } from '../admission/engine.ts';
import type { OfferedCandidates } from '../admission/health/offer-candidates.ts';
import { boundEstimate } from '../domain/limits/bound-estimate.ts';
import { RelayError } from '../domain/relay-error.ts';
import type { Candidate } from '../domain/routing/routing.ts';
import { FAULT_VERDICT, verdictOfStatus } from '../domain/routing/upstream-verdict.ts';
import type { Authenticate } from '../http/authenticate.ts';
import { type BodyBounds, readBody } from '../http/read-body.ts';
import { type Capacity, LATE_ANSWERS_MAX } from './admit/await-capacity.ts';
import { giveUpCharges } from './admit/give-up-charges.ts';
import { type ReserveDeps, reserveCapacity } from './admit/reserve-capacity.ts';
import { answerItself } from './answer-itself.ts';
import { type AttemptDeps, attempt } from './attempt.ts';
import { actualOf, NOT_DISPATCHED } from './attempt-use.ts';
import { asksForPause } from './dispatch/cooldown.ts';
import { endStopped, endWithError } from './endings.ts';
import { type AttemptResult, type Exchange, isFailure, type RoutedRequest } from './exchange.ts';
import type { GuardDeps } from './guard/ask.ts';
import {
  demandInspectable,
  type Guarded,
  guardDispatch,
  guardRequest,
  responseGuardrails,
} from './guard/guard-request.ts';
import { guardResponse } from './guard/guard-response.ts';
import { answerWith, type HeldResult } from './last-answer.ts';
import { type ReceiveDeps, receiveRequest } from './receive/receive-request.ts';
import { decodeAnswer } from './respond/decode-answer.ts';
import { type Rerouted, routeAgain } from './route/route-again.ts';
import { routeRequest } from './route/route-request.ts';
import { learnUse } from './settle/learn-use.ts';
import { type Ending, type SettleDeps, settle } from './settle/settle.ts';
import type { TypicalUse } from './settle/typical-use.ts';

export interface PipelineDeps
  extends AttemptDeps,
    GuardDeps,
    ReceiveDeps,
    ReserveDeps,
    BodyBounds,
    Pick<SettleDeps, 'onSettled'> {
  readonly authenticate: Authenticate;
  readonly desk: AdmissionDesk;
  /** The maximum number of requests of one caller that wait in one lane. */
  readonly waitersMax: number;
  readonly typicalUse: TypicalUse;
  readonly attemptsMax: number;
  /** True once the process takes no new requests. Those that it has continue. */
  readonly draining: () => boolean;
}

/**
 * The life of a request, from top to bottom. Only this file knows the order of the steps. It owns the wait and fallback loop
 * and settles every exchange exactly once.
 */
export async function serveExchange(deps: PipelineDeps, exchange: Exchange): Promise<void> {
  let routed: RoutedRequest | null = null;
  let ending: Ending;
  try {
    if (deps.draining()) throw new RelayError('draining');
    const { organizationId } = exchange.caller;
    deps.newest.prepare(organizationId);
    // receive: 400, 401, 413, 429
    const bytes = await readBody(exchange.request, exchange.response, deps, organizationId);
    const body = await receiveRequest(deps, exchange, bytes);
    // route: 400
    const { route, candidates } = routeRequest(exchange, body);
    if (candidates.length === 0) {
      settle(deps, exchange, null, answerItself(deps, exchange, body));
      return;
    }
    const name = route.lane?.id ?? body.model;
    const { snapshot, caller, protocol } = exchange;
    const typical = deps.typicalUse.of(caller.organizationId, name);
    const guess = protocol.request.estimate(body, typical);
    const { cap } = protocol.request.output(body);
    const estimate = boundEstimate(snapshot, caller, route, candidates, cap, guess);
    routed = { body, route, estimate, typicalOutputTokens: typical.outputTokens };
    demandInspectable(exchange, routed, candidates);
    exchange.marks.routedMs = deps.clock.monotonicMs();
    // guard: 403, 503
    const asked = guardRequest(deps, exchange, routed);
    const guarded: Guarded = asked instanceof Promise ? await asked : asked;
    // admit, dispatch, respond: 429, 502, 503, and the provider's own status
    ending =
      guarded === 'stopped'
        ? endStopped(deps, exchange)
        : await serveFromCandidates(deps, exchange, routed, candidates);
    learnUse(deps, exchange, routed, name);
  } catch (error) {
    ending = endWithError(deps, exchange, error);
  }
  // settle
  settle(deps, exchange, routed, ending);
  deps.holds.release(exchange.requestId);
}

/** Tries candidates until one answers, the client disconnects, or no candidate is left. */
async function serveFromCandidates(
  deps: PipelineDeps,
  exchange: Exchange,
  first: RoutedRequest,
  candidates: readonly Candidate[],
): Promise<Ending> {
  let routed = first;
  let untried = candidates;
  /** Tried before, and asked for a pause. The engine knows their cooldown, so that an ask for them waits for its end. */
  let paused: Candidate[] = [];
  let last: { readonly result: HeldResult; readonly candidate: Candidate } | null = null;
  let release: Actual | null = null;
  let waitedMs = 0;
  let late = 0;

  const isAnotherLeft = (attempts: number) =>
    attempts < deps.attemptsMax && untried.length + paused.length > 0;
  while (isAnotherLeft(exchange.attempts.length)) {
    const offering = offerOf(deps, exchange, routed, untried);
    const offer = offering instanceof Promise ? await offering : offering;
    const offered = offer?.candidates ?? untried;
    const asked = paused.length === 0 ? offered : [...offered, ...paused];
    const capacity = await reserveTraced(deps, exchange, routed, asked, release);
    if (capacity === 'stopped') return endStopped(deps, exchange);
    if (capacity.kind === 'refused') {
      if (last === null) throw capacity.error;
      break;
    }
    const { candidate } = capacity;
    const again = routeReserved(deps, exchange, routed, candidate);
    if (again !== null) {
      ({ routed, candidates: untried } = again);
      paused = [];
      release = NOT_DISPATCHED;
      continue;
    }
    exchange.rateWindows = capacity.windows;
    exchange.reservation = capacity.reservation;
    const readyMs = deps.clock.monotonicMs();
    if (exchange.waitMs > waitedMs) await demandCaller(deps, exchange);
    if ((await guardReserved(deps, exchange, routed, candidates, candidate)) === 'stopped')
      return endStopped(deps, exchange);
    if (deps.clock.monotonicMs() - readyMs > capacity.latenessMsMax && late < LATE_ANSWERS_MAX) {
      // The guardrails took so long that the provider would count the request in another window. They are not asked again.
      late += 1;
      release = NOT_DISPATCHED;
      continue;
    }
    const inspected = responseGuardrails(exchange, routed, candidate).length > 0;
    const waitMs = exchange.waitMs - waitedMs;
    const probe = offer?.probe?.endpointId === candidate.endpoint.id ? offer.probe : null;
    untried = routed.route.allowFallback ? without(untried, candidate) : [];
    paused = without(paused, candidate);
    const holdMs = isAnotherLeft(exchange.attempts.length + 1) ? routed.route.holdMs : 0;
    const result = await attempt(deps, exchange, routed, candidate, { waitMs, inspected, holdMs, probe });
    waitedMs = exchange.waitMs;
    if (result.kind === 'delivered') return { ...result.delivery };
    if (result.kind === 'stopped') return endStopped(deps, exchange);
    if (inspected && result.kind === 'answer' && !isFailure(result.answer.status))
      return inspectAnswer(deps, exchange, routed, candidate, result);
    last = { result, candidate };
    if (!movesOn(result)) break;
    if (result.kind === 'answer' && asksForPause(result.answer, deps.clock.nowMs())) paused.push(candidate);
    release = actualOf(exchange.attempts.at(-1));
  }
  if (last === null)
    throw new RelayError('internal_error', { internal: 'the candidate loop ended without a result' });
  return answerWith(deps, exchange, routed, last.candidate, last.result);
}

/** As `reserveCapacity`, with a span that holds the wait. */
async function reserveTraced(...args: Parameters<typeof reserveCapacity>): Promise<Capacity> {
  const [{ clock }, exchange] = args;
  const { trace } = exchange;
  if (trace === null) return reserveCapacity(...args);
  const startMs = clock.monotonicMs();
  const waitedMs = exchange.waitMs;
  let outcome: string = 'failed';
  try {
    const capacity = await reserveCapacity(...args);
    outcome = typeof capacity === 'string' ? capacity : capacity.kind;
    return capacity;
  } finally {
    const waitMs = exchange.waitMs - waitedMs;
    trace.step({
      name: 'admit',
      startMs,
      endMs: clock.monotonicMs(),
      attributes: {
        'relay.admission.outcome': outcome,
        'relay.wait_ms': Math.round(waitMs),
        'relay.limited_by':
          waitMs > 0 || outcome === 'refused' ? (exchange.decisions.bound?.policyId ?? null) : null,
      },
      failed: outcome === 'failed',
    });
  }
}

/** The candidates without those that are down, as long as one is not; null when none is left out. */
function offerOf(
  { health, attemptsMax }: PipelineDeps,
  { caller, attempts, decisions }: Exchange,
  { route }: RoutedRequest,
  untried: readonly Candidate[],
): OfferedCandidates | null | Promise<OfferedCandidates | null> {
  const mayFallBack = route.allowFallback && attemptsMax - attempts.length > 1;
  const offer = health.offer(caller.organizationId, untried, mayFallBack);
  if (offer === null) return null;
  const note = (known: OfferedCandidates) => {
    decisions.skipped = known.skipped;
    decisions.probed ??= known.probe?.endpointId ?? null;
    return known;
  };
  return offer instanceof Promise ? offer.then(note) : note(offer);
}

/**
 * A key that was revoked while its request waited opens nothing any more. Where that cannot be known, the request keeps the
 * permission that it had.
 */
async function demandCaller({ authenticate, desk }: PipelineDeps, exchange: Exchange): Promise<void> {
  try {
    await authenticate(exchange.request);
  } catch (error) {
    if (!(error instanceof RelayError) || error.status >= 500) return;
    desk.void(exchange.caller.organizationId, exchange.requestId);
    throw error;
  }
}

/** Null if the candidate whose capacity is reserved is still offered. The reservation is voided if nothing else is. */
function routeReserved(
  { newest, desk }: PipelineDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  candidate: Candidate,
): Rerouted | null {
  let isKept = false;
  try {
    const again = routeAgain(newest.held(exchange.snapshot), exchange, routed, candidate);
    isKept = again === null || again.candidates.length > 0;
    return again;
  } finally {
    if (!isKept) desk.void(exchange.caller.organizationId, exchange.requestId);
  }
}

/** Asks the guardrails of a candidate whose capacity is reserved. The reservation is voided unless all of them agree. */
async function guardReserved(
  deps: PipelineDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  candidates: readonly Candidate[],
  candidate: Candidate,
): Promise<Guarded> {
  let guarded: Guarded = 'stopped';
  try {
    const asked = guardDispatch(deps, exchange, routed, candidates, candidate);
    guarded = asked instanceof Promise ? await asked : asked;
    return guarded;
  } finally {
    if (guarded !== 'clear') deps.desk.void(exchange.caller.organizationId, exchange.requestId);
  }
}

/**
 * A complete answer that guardrails inspect before it is sent. The provider has done the work, so its usage is charged and metered
 * whatever the guardrails decide.
 */
async function inspectAnswer(
  deps: PipelineDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  candidate: Candidate,
  result: Extract<AttemptResult, { kind: 'answer' }>,
): Promise<Ending> {
  const record = exchange.attempts.at(-1);
  if (record !== undefined) await giveUpCharges(deps, exchange, routed, actualOf(record));
  const { answer } = result;
  const guardrails = responseGuardrails(exchange, routed, candidate);
  const decoded = await decodeAnswer(answer);
  const guarded = await guardResponse(deps, exchange, routed, guardrails, answer, decoded);
  if (guarded === 'stopped') return endStopped(deps, exchange);
  if (guarded.kind === 'refused') return endWithError(deps, exchange, guarded.error);
  return answerWith(deps, exchange, routed, candidate, { ...result, answer: guarded.answer });
}

function without(candidates: readonly Candidate[], candidate: Candidate): Candidate[] {
  return candidates.filter((each) => each !== candidate);
}

/** Whether another attempt may replace this one: the failure is not the client's own. */
function movesOn(result: HeldResult): boolean {
  const verdict = result.kind === 'failure' ? FAULT_VERDICT : verdictOfStatus(result.answer.status);
  return verdict.movesOn;
}
