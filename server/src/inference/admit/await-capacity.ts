import type { AdmissionDesk } from '../../admission/desk.ts';
import type { Actual, DeskAnswer } from '../../admission/engine.ts';
import { GEOMETRY, latenessMsMax } from '../../admission/memory/sliding-window.ts';
import type { RelayError } from '../../domain/relay-error.ts';
import type { Candidate } from '../../domain/routing/routing.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Exchange, RateWindow, RoutedRequest } from '../exchange.ts';
import { askFor, rateWindowsOf } from './ask.ts';
import { refusalError } from './refusal.ts';

/** How long a request in line sleeps at most: a lost connection can lose its wake-up. */
const LINE_MS_MAX = 1_000;
/** Bounds the retries after a late answer, so that a busy process still sends requests. */
export const LATE_ANSWERS_MAX = 3;
export const UNUSED: Actual = { dispatched: false, tokens: 0, spendMicros: 0 };

export interface AdmitDeps {
  readonly desk: AdmissionDesk;
  readonly clock: Clock;
  readonly waitersMax: number;
  readonly draining: () => boolean;
}

export type Capacity =
  | {
      readonly kind: 'ready';
      readonly candidate: Candidate;
      readonly windows: readonly RateWindow[];
      /** A dispatch later than this after its slot falls outside the windows that were charged. */
      readonly latenessMsMax: number;
    }
  | { readonly kind: 'refused'; readonly error: RelayError }
  | 'client_gone'
  | 'draining';

/**
 * Asks for capacity and waits for it within the rest of the wait budget. Answers 429 for a refusal, 503 when a limit cannot
 * be checked. `release`: what a failed attempt used, given back in the same step.
 */
export async function awaitCapacity(
  deps: AdmitDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  candidates: readonly Candidate[],
  release: Actual | null,
): Promise<Capacity> {
  const { organizationId } = exchange.caller;
  let given = release;
  let late = 0;
  // Each turn waits at least a millisecond and shrinks the wait budget, which bounds the loop.
  for (;;) {
    const ask = askFor(deps, exchange, routed, candidates, given);
    given = null;
    const askedMs = deps.clock.monotonicMs();
    const asked = deps.desk.admit(ask);
    const answer: DeskAnswer = asked instanceof Promise ? await asked : asked;
    const tookMs = deps.clock.monotonicMs() - askedMs;
    noteAnswer(exchange, answer, candidates, tookMs);
    if (answer.kind === 'refused')
      return { kind: 'refused', error: refusalError(exchange, routed.route, answer) };
    const candidate = candidates[answer.candidate];
    if (candidate === undefined) throw new RangeError('admission chose a candidate that was not asked for');
    if (answer.kind === 'admitted') {
      // The slot lies between ask and answer. After a slow answer it may be too old, so ask for another.
      const charges = ask.candidates[answer.candidate]?.charges ?? [];
      const boundMs = Math.max(GEOMETRY.second.bucketMs, latenessMsMax(charges));
      if (tookMs > boundMs && late < LATE_ANSWERS_MAX) {
        late += 1;
        given = UNUSED;
        continue;
      }
      return {
        kind: 'ready',
        candidate,
        windows: rateWindowsOf(ask.candidates[answer.candidate], answer.windows),
        latenessMsMax: boundMs,
      };
    }
    const stop = stopReason(deps, exchange);
    if (stop === null && answer.kind === 'line' && ask.waitMsMax <= 0) {
      deps.desk.void(organizationId, exchange.requestId);
      exchange.decisions.refused = 'wait_budget';
      return {
        kind: 'refused',
        error: refusalError(exchange, routed.route, deps.desk.refuseInLine(organizationId, answer.policyId)),
      };
    }
    if (stop === null) await waitFor(deps, exchange, answer, ask.waitMsMax);
    const stopped = stop ?? stopReason(deps, exchange);
    if (stopped === null) continue;
    deps.desk.void(organizationId, exchange.requestId);
    return stopped;
  }
}

/** For the request's record: keeps the last limit that delayed it. Cooldowns are not limits. */
function noteAnswer(
  { decisions, marks, arrivedAtMs, waitMs }: Exchange,
  answer: DeskAnswer,
  candidates: readonly Candidate[],
  tookMs: number,
): void {
  marks.admitMs = (marks.admitMs ?? 0) + tookMs;
  decisions.refused = answer.kind === 'refused' ? answer.reason : null;
  decisions.awaited = null;
  if (answer.kind === 'admitted') return;
  const { policyId } = answer;
  const inMs = answer.kind === 'wait' ? answer.waitMs : answer.kind === 'refused' ? answer.resetMs : 0;
  if (policyId !== null)
    // In line the wait is unknown, and no wait helps a request that is larger than the limit.
    decisions.bound = { policyId, resetsAtMs: inMs > 0 ? Math.round(arrivedAtMs + waitMs + inMs) : null };
  if (answer.kind === 'refused') return;
  const endpointId = candidates[answer.candidate]?.endpoint.id;
  if (endpointId !== undefined)
    decisions.awaited = { endpointId, waitMs: answer.kind === 'wait' ? Math.round(inMs) : null };
}

function stopReason(deps: AdmitDeps, exchange: Exchange): 'client_gone' | 'draining' | null {
  if (exchange.clientGone) return 'client_gone';
  return deps.draining() ? 'draining' : null;
}

/** Until the slot, a wake-up, or a disconnect. */
async function waitFor(
  deps: AdmitDeps,
  exchange: Exchange,
  answer: Extract<DeskAnswer, { kind: 'wait' | 'line' }>,
  waitMsMax: number,
): Promise<void> {
  const waitMs = answer.kind === 'wait' ? answer.waitMs : Math.min(LINE_MS_MAX, waitMsMax);
  const startMs = deps.clock.monotonicMs();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, Math.max(1, Math.ceil(waitMs)));
    function done(): void {
      clearTimeout(timer);
      resolve();
    }
    exchange.inCharge = { clientLeft: done };
    deps.desk.onWake(exchange.requestId, done);
  });
  exchange.inCharge = null;
  deps.desk.onWake(exchange.requestId, null);
  exchange.waitMs += deps.clock.monotonicMs() - startMs;
}
