import type { EndpointHealth } from '../admission/health/endpoint-health.ts';
import type { EndedAttempt } from '../admission/health/note-attempts.ts';
import type { Candidate } from '../domain/routing/routing.ts';
import { FAULT_VERDICT, isContentIndependent, verdictOfStatus } from '../domain/routing/upstream-verdict.ts';
import { type AttemptResult, type Exchange, isFailure, type UpstreamHead } from './exchange.ts';

export interface HealthDeps {
  readonly health: EndpointHealth;
}

export interface SeenAttempt extends Pick<EndedAttempt, 'tookMs' | 'probe' | 'cooldownUntilMs'> {
  readonly result: AttemptResult;
  readonly head: UpstreamHead | null;
  /** Content has reached the client. */
  readonly hasContent: boolean;
}

type Judged = Pick<EndedAttempt, 'count' | 'hard' | 'error'>;

const OK: Judged = { count: 'ok', hard: false, error: null };
const NO_EVIDENCE: Judged = { count: 'neither', hard: false, error: null };

/** The first content is a sign of life: a stream may go on for minutes, and its end tells less about the present. */
export function noteContent(
  { health }: HealthDeps,
  exchange: Exchange,
  candidate: Candidate,
  { status }: UpstreamHead,
  tookMs: number,
): boolean {
  if (isFailure(status)) return false;
  health.answers(exchange.caller.organizationId, candidate, callerOf(exchange), tookMs);
  return true;
}

/** Tells health how an attempt ended. An exchange that was stopped before any content proves nothing, and after it nothing bad. */
export function noteHealth(
  { health }: HealthDeps,
  exchange: Exchange,
  candidate: Candidate,
  { result, head, tookMs, hasContent, probe, cooldownUntilMs }: SeenAttempt,
): void {
  if (result.kind === 'stopped') return;
  // A stream may be open before its content.
  if (exchange.stopped !== null && result.kind === 'delivered' && !hasContent) return;
  const { count, hard, error } = exchange.stopped === null ? judge(result, head) : OK;
  health.ended({
    organizationId: exchange.caller.organizationId,
    candidate,
    caller: callerOf(exchange),
    count,
    hard,
    error,
    tookMs,
    probe,
    noted: hasContent,
    cooldownUntilMs,
  });
}

function judge(result: Exclude<AttemptResult, { kind: 'stopped' }>, head: UpstreamHead | null): Judged {
  if (result.kind === 'failure') {
    const { code, why, deadline } = result.fault;
    if (code === 'internal_error') return NO_EVIDENCE;
    const status = head?.status ?? null;
    const hard = !result.metered.sent && deadline !== true;
    return { count: FAULT_VERDICT.health, hard, error: { message: why, status } };
  }
  if (result.kind === 'delivered') {
    const { state, cause, status } = result.delivery;
    if (state !== 'failed') return OK;
    const message = cause === 'upstream_error_frame' ? 'an error in the stream' : 'the stream was cut off';
    return { count: FAULT_VERDICT.health, hard: false, error: { message, status } };
  }
  const { status } = result.answer;
  const count = verdictOfStatus(status).health;
  if (count === 'ok') return OK;
  return { count, hard: isContentIndependent(status), error: { message: statusWords(status), status } };
}

export function statusWords(status: number): string {
  const { rejects } = verdictOfStatus(status);
  if (rejects === 'credential') return `credential rejected (${status})`;
  return rejects === 'address' ? `redirected (${status})` : `status ${status}`;
}

/** Requests of one caller may all have the same flaw. */
function callerOf({ caller }: Exchange): string {
  return caller.keyId ?? caller.userId;
}
