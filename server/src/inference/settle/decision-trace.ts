import type { Refusal } from '../../admission/engine.ts';
import { limitRules } from '../../domain/limits/limit-rules.ts';
import type { RecordedCandidate } from '../../domain/request-record.ts';
import type { RouteMember } from '../../domain/routing/routing.ts';
import { unfitness } from '../../domain/routing/unfit.ts';
import { type AttemptRecord, askedOf, type Exchange } from '../exchange.ts';

const CANDIDATES_MAX = 20;
const NO_LANE = { lane: null };

const REFUSED_TEXT: Record<Refusal['reason'], string> = {
  wait_budget: 'it had no capacity within the wait budget',
  exceeds_limit: 'this request exceeds a limit by itself',
  queue_full: 'too many requests from this caller were waiting',
};

type Judged = Pick<RecordedCandidate, 'verdict' | 'reason' | 'waitMs'>;

/**
 * Why the request was routed as it was: every member of its route with its verdict, tried members always included. The reasons
 * are fixed texts that contain nothing of the request.
 */
export function decisionTrace(exchange: Exchange): readonly RecordedCandidate[] {
  const { route, attempts } = exchange;
  if (route === null) return [];
  const tried = new Map(attempts.map((attempt) => [attempt.endpointId, attempt]));
  const lastTried = route.members.findLastIndex(({ candidate }) => tried.has(candidate.endpoint.id));
  const others = CANDIDATES_MAX - tried.size;
  const trace: RecordedCandidate[] = [];
  for (const [index, member] of route.members.entries()) {
    const endpointId = member.candidate.endpoint.id;
    const attempt = tried.get(endpointId);
    if (trace.length >= CANDIDATES_MAX) break;
    if (attempt === undefined && index >= others && route.members.length > CANDIDATES_MAX) continue;
    const judged =
      attempt === undefined
        ? judgeUntried(exchange, member, index < lastTried)
        : judgeTried(attempt, attempt === attempts.at(-1), endpointId === exchange.decisions.probed);
    trace.push({ endpointId, rank: member.manualRank, ...judged });
  }
  return trace;
}

function judgeTried({ waitMs }: AttemptRecord, isLast: boolean, isProbe: boolean): Judged {
  if (!isLast && isProbe)
    return {
      verdict: 'unhealthy',
      reason: 'it was down, and the test request to it failed',
      waitMs,
    };
  if (!isLast)
    return { verdict: 'unhealthy', reason: 'the attempt failed, and Relay tried another endpoint', waitMs };
  return { verdict: 'selected', reason: 'Relay made the last attempt here', waitMs };
}

/** `passedOver`: a member of a later rank was tried, so this one was considered before and not chosen. */
function judgeUntried(exchange: Exchange, member: RouteMember, passedOver: boolean): Judged {
  const { snapshot, caller, route } = exchange;
  const rules = limitRules(snapshot, caller, route ?? NO_LANE);
  const unfit = unfitness(member, askedOf(exchange), exchange.streaming, rules);
  if (unfit !== null) return { verdict: unfit.verdict, reason: unfit.reason, waitMs: null };
  const { awaited, refused, skipped } = exchange.decisions;
  const down = skipped.find(({ endpointId }) => endpointId === member.candidate.endpoint.id);
  if (down !== undefined) return { verdict: 'unhealthy', reason: down.reason, waitMs: null };
  if (refused !== null) return { verdict: 'limited', reason: REFUSED_TEXT[refused], waitMs: null };
  if (awaited?.endpointId === member.candidate.endpoint.id) {
    const reason = 'the request waited for it and ended before its turn';
    return { verdict: 'would_wait', reason, waitMs: awaited.waitMs };
  }
  if (passedOver && exchange.route?.selection === 'soonest')
    return { verdict: 'would_wait', reason: 'another endpoint was free sooner', waitMs: null };
  if (passedOver) return { verdict: 'limited', reason: REFUSED_TEXT.wait_budget, waitMs: null };
  const reason =
    exchange.attempts.length > 0
      ? 'not needed: ranked after the endpoints that were tried'
      : 'no endpoint was tried';
  return { verdict: 'available', reason, waitMs: null };
}
