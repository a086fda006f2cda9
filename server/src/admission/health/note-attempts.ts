import type { SeenError } from '../../domain/routing/health-record.ts';
import type { Candidate } from '../../domain/routing/routing.ts';
import type { HealthCount } from '../../domain/routing/upstream-verdict.ts';
import type { Clock } from '../../kit/clock.ts';
import type { HealthMoves } from './health-moves.ts';
import type { HealthSubject, SeenFault } from './health-subject.ts';
import type { HealthSubjects } from './health-subjects.ts';
import type { HealthKeeper } from './keep-health.ts';
import type { HealthReporter } from './report-health.ts';

/** Other gateways also see successes. The first to report spares the others their report. */
const OK_WITHIN_MS = 100;

/** How an attempt ended, as far as health is concerned. */
export interface EndedAttempt {
  readonly organizationId: string;
  readonly candidate: Candidate;
  /** The key or user that sent the request. */
  readonly caller: string;
  readonly count: HealthCount;
  /** What happened, in words; null unless it is a failure. */
  readonly error: { readonly message: string; readonly status: number | null } | null;
  /** No content of a request can cause the failure. */
  readonly hard: boolean;
  readonly tookMs: number;
  /** Whether it was sent to an endpoint that is down, to find out. */
  readonly probe: boolean;
  /** Its success was noted when its first content arrived. */
  readonly noted: boolean;
  /** The provider asked to be left alone until then. */
  readonly cooldownUntilMs: number | null;
}

export interface AttemptNotes {
  /** The first content of an answer has arrived, to a request that was sent this long ago. */
  answers(organizationId: string, candidate: Candidate, caller: string, tookMs: number): void;
  ended(attempt: EndedAttempt): void;
}

interface NoteDeps {
  readonly clock: Clock;
  readonly subjects: HealthSubjects;
  readonly reporter: HealthReporter;
  readonly keeper: HealthKeeper;
  readonly moves: HealthMoves;
}

/** The path of every request: a success changes some numbers. Only while something is wrong does anything else happen. */
export function createAttemptNotes(deps: NoteDeps): AttemptNotes {
  const { clock, subjects, reporter, keeper, moves } = deps;

  function answers(organizationId: string, candidate: Candidate, caller: string, tookMs: number): void {
    const { endpoint, credential } = subjects.of(organizationId, candidate);
    const atMs = clock.nowMs();
    noteOk(deps, endpoint, caller, atMs, atMs - tookMs);
    if (credential !== null && subjects.alarmed.size > 0 && subjects.alarmed.has(credential))
      noteOk(deps, credential, caller, atMs, atMs - tookMs);
  }

  return {
    answers,
    ended(attempt) {
      const { organizationId, candidate, count, error } = attempt;
      const { endpoint } = subjects.of(organizationId, candidate);
      if (attempt.probe) moves.probed(count);
      if (attempt.cooldownUntilMs !== null) {
        endpoint.noteCooldown(attempt.cooldownUntilMs);
        reporter.report(endpoint);
      }
      if (count === 'fault' || count === 'credential_refused') {
        noteFailure(deps, attempt, { message: 'failed', status: null, ...error, atMs: clock.nowMs() });
        return;
      }
      if (count === 'ok') endpoint.countOk();
      else endpoint.countOther();
      if (!endpoint.isDirty) keeper.dirty(endpoint);
      // A provider that asks for a pause answers, and has accepted the credential.
      if (count !== 'neither' && !attempt.noted)
        answers(organizationId, candidate, attempt.caller, attempt.tookMs);
    },
  };
}

function noteOk(
  { subjects, reporter }: NoteDeps,
  subject: HealthSubject,
  caller: string,
  atMs: number,
  sentMs: number,
): void {
  subject.noteOk(caller, atMs, sentMs);
  if (subjects.alarmed.size === 0 || !subjects.alarmed.has(subject)) return;
  const open = subject.record?.open ?? null;
  if (open !== null && sentMs >= open.sinceMs) reporter.report(subject);
  else if (open === null)
    reporter.reportWithin(subject, Math.random() * OK_WITHIN_MS, () => subject.isAlarmed);
}

function noteFault({ subjects, reporter }: NoteDeps, subject: HealthSubject, fault: SeenFault): void {
  subject.noteFault(fault);
  subjects.alarmed.add(subject);
  reporter.report(subject);
}

/** A refused credential concerns every endpoint that uses it; any other fault concerns the endpoint. */
function noteFailure(deps: NoteDeps, attempt: EndedAttempt, error: SeenError): void {
  const { caller, hard, probe } = attempt;
  const { endpoint, credential } = deps.subjects.of(attempt.organizationId, attempt.candidate);
  endpoint.countFailed(caller, error);
  const fault = { caller, hard, error, sentMs: error.atMs - attempt.tookMs, probe };
  if (attempt.count !== 'credential_refused' || credential === null) {
    noteFault(deps, endpoint, fault);
    return;
  }
  // What the endpoint served, it served with this credential.
  if (endpoint.okAtMs !== null) credential.noteServed(endpoint.okAtMs);
  noteFault(deps, credential, fault);
  deps.keeper.dirty(endpoint);
  deps.reporter.report(endpoint);
}
