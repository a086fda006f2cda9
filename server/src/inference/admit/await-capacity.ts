import type { AdmissionDesk, DeskReply } from '../../admission/desk.ts';
import type { Actual, CandidateAsk, DeskAnswer, DeskAsk, Refusal } from '../../admission/engine.ts';
import { latenessMsMax } from '../../admission/lateness.ts';
import type { Reservation } from '../../domain/limits/hard-reservation.ts';
import type { RelayError } from '../../domain/relay-error.ts';
import type { Candidate } from '../../domain/routing/routing.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Shares } from '../../kit/shares.ts';
import { NOT_DISPATCHED } from '../attempt-use.ts';
import type { Exchange, RateWindow, RoutedRequest } from '../exchange.ts';
import { askFor, rateWindowsOf, reservationsOf, waitMsLeft } from './ask.ts';
import { refusalError } from './refusal.ts';

/** Bounds the retries after a late answer, so that a busy process still sends requests. */
export const LATE_ANSWERS_MAX = 3;
/** In one call of the engine, which no other organization's can interrupt. A request with more candidates asks several times. */
const CANDIDATES_MAX = 16;

export interface AdmitDeps {
  readonly desk: AdmissionDesk;
  readonly clock: Clock;
  readonly waitersMax: number;
  /** Places of requests that ask for capacity or wait for it, of which organizations have shares. */
  readonly waitingPlaces: Shares;
}

export type Capacity =
  | {
      readonly kind: 'ready';
      readonly candidate: Candidate;
      readonly windows: readonly RateWindow[];
      /** A dispatch later than this after it was let go falls outside the windows that were charged. */
      readonly latenessMsMax: number;
      /** What hard limits reserved; null where none applies. */
      readonly reservation: Reservation | null;
      readonly hardPolicyIds: readonly string[];
    }
  | Refused
  | 'stopped';

export interface Refused {
  readonly kind: 'refused';
  readonly error: RelayError;
  /** Infinite when no time helps. */
  readonly retryMs: number;
  /** The request is larger than the limit. */
  readonly isForGood: boolean;
  /** The hard limit that refused it; null when another limit did. */
  readonly hardPolicyId: string | null;
}

export interface Wanted {
  /** What a failed attempt used, given back in the same step. */
  readonly release: Actual | null;
  /** The limit on the output that Relay would write. */
  readonly cap: number;
  readonly mayWait: boolean;
}

/**
 * Asks for capacity and waits for it within the rest of the wait budget. Answers 429 for a refusal, 503 when a limit cannot
 * be checked.
 */
export async function awaitCapacity(
  deps: AdmitDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  candidates: readonly Candidate[],
  wanted: Wanted,
): Promise<Capacity> {
  if (candidates.length <= CANDIDATES_MAX) return askFrom(deps, exchange, routed, candidates, wanted);
  // One of them that is free now comes before the wait for another, unless the lane prefers the order.
  const mayWait = wanted.mayWait && routed.route.selection === 'preferred';
  let best: Refused | null = null;
  let bestPart = candidates;
  for (let start = 0; start < candidates.length; start += CANDIDATES_MAX) {
    const part = candidates.slice(start, start + CANDIDATES_MAX);
    const release = start === 0 ? wanted.release : null;
    const capacity = await askFrom(deps, exchange, routed, part, { ...wanted, release, mayWait });
    if (typeof capacity === 'string' || capacity.kind === 'ready') return capacity;
    if (best === null || capacity.retryMs < best.retryMs) [best, bestPart] = [capacity, part];
  }
  if (best !== null && (mayWait || !wanted.mayWait || waitMsLeft(exchange, routed.route) === 0)) return best;
  return askFrom(deps, exchange, routed, bestPart, { ...wanted, release: null, mayWait: true });
}

/**
 * Asks for one of a bounded number of candidates. While its organization has its share of the places, a request is served if there is
 * capacity now, and otherwise refused: any number of keys and lanes would take every place.
 */
async function askFrom(
  deps: AdmitDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  candidates: readonly Candidate[],
  wanted: Wanted,
): Promise<Capacity> {
  const giveBack = wanted.mayWait ? deps.waitingPlaces.tryTake(exchange.caller.organizationId) : null;
  const waitersMax = giveBack === null ? 0 : deps.waitersMax;
  try {
    return await askWithin(deps, exchange, routed, candidates, { ...wanted, waitersMax });
  } finally {
    giveBack?.();
  }
}

interface Asking extends Wanted {
  readonly waitersMax: number;
}

async function askWithin(
  deps: Pick<AdmitDeps, 'desk' | 'clock'>,
  exchange: Exchange,
  routed: RoutedRequest,
  candidates: readonly Candidate[],
  { release, cap, mayWait, waitersMax }: Asking,
): Promise<Capacity> {
  const reservations = reservationsOf(exchange, routed, candidates, cap);
  let given = release;
  // A late answer may be asked for again a bounded number of times.
  for (let late = 0; ; late += 1) {
    const ask = askFor({ waitersMax }, exchange, routed, candidates, {
      release: given,
      mayWait,
      reservations,
    });
    const askedMs = deps.clock.monotonicMs();
    const asked = deps.desk.admit(ask);
    const reply: DeskReply = asked instanceof Promise ? await asked : asked;
    const tookMs = deps.clock.monotonicMs() - askedMs;
    exchange.marks.admitMs = (exchange.marks.admitMs ?? 0) + tookMs;
    noteAnswer(exchange, reply, candidates);
    const answer = reply.kind === 'wait' ? await waitFor(deps, exchange, reply, candidates) : reply;
    if (answer === 'stopped') return answer;
    if (answer.kind === 'refused')
      return {
        kind: 'refused',
        error: refusalError(exchange, routed.route, answer),
        retryMs: answer.reason === 'exceeds_limit' ? Number.POSITIVE_INFINITY : answer.retryAfterMs,
        isForGood: answer.reason === 'exceeds_limit',
        hardPolicyId: hardPolicyIds(ask.candidates).find((id) => id === answer.policyId) ?? null,
      };
    // What was let go lies in the past by now, and must lie in a bucket in which the provider sees the request.
    const agoMs = reply.kind === 'wait' ? answer.agoMs : answer.agoMs + tookMs;
    const boundMs = latenessMsMax(ask.candidates[answer.candidate]?.charges ?? []);
    if (agoMs <= boundMs || late >= LATE_ANSWERS_MAX)
      return {
        ...ready(ask, candidates, answer, boundMs),
        reservation: reservations[answer.candidate] ?? null,
      };
    given = NOT_DISPATCHED;
  }
}

type Ready = Extract<Capacity, { kind: 'ready' }>;
type Admitted = Extract<DeskAnswer, { kind: 'admitted' }>;

function ready(
  ask: DeskAsk,
  candidates: readonly Candidate[],
  { candidate: chosen, windows }: Admitted,
  boundMs: number,
): Omit<Ready, 'reservation'> {
  const candidate = candidates[chosen];
  if (candidate === undefined) throw new RangeError('admission chose a candidate that was not asked for');
  return {
    kind: 'ready',
    candidate,
    windows: rateWindowsOf(ask.candidates[chosen], windows),
    latenessMsMax: boundMs,
    hardPolicyIds: hardPolicyIds(ask.candidates.slice(chosen, chosen + 1)),
  };
}

function hardPolicyIds(candidates: readonly CandidateAsk[]): readonly string[] {
  const policies = candidates.flatMap(({ charges }) => charges.map(({ policy }) => policy));
  return policies.filter(({ hard }) => hard).map(({ id }) => id);
}

/** Until it is released or refused, or the exchange is stopped. Throws when limits cannot be checked. */
async function waitFor(
  deps: Pick<AdmitDeps, 'desk' | 'clock'>,
  exchange: Exchange,
  { ended }: Extract<DeskReply, { kind: 'wait' }>,
  candidates: readonly Candidate[],
): Promise<Admitted | Refusal | 'stopped'> {
  const { requestId, caller } = exchange;
  const startMs = deps.clock.monotonicMs();
  exchange.inCharge = { stop: () => deps.desk.stopWaiting(requestId) };
  if (exchange.stopped !== null) deps.desk.stopWaiting(requestId);
  const end = await ended;
  exchange.inCharge = null;
  exchange.waitMs += deps.clock.monotonicMs() - startMs;
  // A release that comes while the client leaves is given back like a place in line.
  if (end.kind === 'stopped' || exchange.stopped !== null) {
    deps.desk.void(caller.organizationId, requestId);
    return 'stopped';
  }
  if (end.kind === 'failed') throw end.error;
  noteAnswer(exchange, end, candidates);
  const { bound } = exchange.decisions;
  // The limit that it waited for had room earlier than promised.
  if (end.kind === 'admitted' && bound?.resetsAtMs != null)
    exchange.decisions.bound = { ...bound, resetsAtMs: Math.round(exchange.arrivedAtMs + exchange.waitMs) };
  return end;
}

/** For the request's record: keeps the last limit that delayed it. Cooldowns are not limits. */
function noteAnswer(
  { decisions, arrivedAtMs, waitMs }: Exchange,
  answer: DeskAnswer,
  candidates: readonly Candidate[],
): void {
  const nowMs = arrivedAtMs + waitMs;
  decisions.refused = answer.kind === 'refused' ? answer.reason : null;
  decisions.awaited = null;
  if (answer.kind === 'admitted') return;
  const { policyId } = answer;
  // Behind a concurrency limit the wait is unknown, and no wait helps a request that is larger than the limit.
  const inMs = answer.kind === 'refused' ? answer.resetMs : answer.firm ? answer.withinMs : 0;
  if (policyId !== null)
    decisions.bound = { policyId, resetsAtMs: inMs > 0 ? Math.round(nowMs + inMs) : null };
  if (answer.kind === 'refused') return;
  const endpointId = candidates[answer.candidate]?.endpoint.id;
  if (endpointId !== undefined)
    decisions.awaited = { endpointId, waitMs: answer.firm ? Math.round(inMs) : null };
}
