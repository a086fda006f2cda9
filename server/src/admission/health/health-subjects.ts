import { configuredAs } from '../../domain/routing/configured-as.ts';
import type { OpenBreaker } from '../../domain/routing/health-record.ts';
import { openBreakerOf } from '../../domain/routing/health-view.ts';
import type { Candidate } from '../../domain/routing/routing.ts';
import type { Clock } from '../../kit/clock.ts';
import { KEPT_MS } from './health-store.ts';
import { HealthSubject } from './health-subject.ts';

const SUBJECTS_MAX = 50_000;

/** A candidate's endpoint, and the credential that its requests are sent with. */
export interface CandidateSubjects {
  readonly endpoint: HealthSubject;
  readonly credential: HealthSubject | null;
}

const endpointSubject = (endpointId: string): string => `endpoint:${endpointId}`;
const credentialSubject = (credentialId: string): string => `credential:${credentialId}`;

/** What this process knows of endpoints and credentials, those that it uses and those that it heard about. */
export class HealthSubjects {
  readonly #clock: Clock;
  readonly #byName = new Map<string, HealthSubject>();
  /** A candidate lives as long as its snapshot, so a changed configuration is looked up again. */
  readonly #byCandidate = new WeakMap<Candidate, CandidateSubjects>();
  /** Those with an open breaker. Usually empty, which is all that most requests look at. */
  readonly open = new Set<HealthSubject>();
  /** Those that wait for a success. */
  readonly alarmed = new Set<HealthSubject>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get all(): Iterable<HealthSubject> {
    return this.#byName.values();
  }

  find(name: string): HealthSubject | undefined {
    return this.#byName.get(name);
  }

  of(organizationId: string, candidate: Candidate): CandidateSubjects {
    const known = this.#byCandidate.get(candidate);
    if (known !== undefined && !known.endpoint.isDropped && known.credential?.isDropped !== true)
      return known;
    const { endpoint, credential } = configuredAs(candidate);
    const subjects = {
      endpoint: this.subject(organizationId, endpointSubject(candidate.endpoint.id), endpoint),
      credential:
        credential === null
          ? null
          : this.subject(organizationId, credentialSubject(credential.id), credential.as),
    };
    this.#byCandidate.set(candidate, subjects);
    return subjects;
  }

  /** Whatever was known under another configuration is dropped: a changed endpoint starts afresh. */
  subject(organizationId: string, name: string, of: string): HealthSubject {
    const known = this.#byName.get(name);
    if (known?.of === of) return known;
    if (known !== undefined) this.#drop(known);
    const subject = new HealthSubject(organizationId, name, of, this.#clock.nowMs());
    this.#byName.set(name, subject);
    const oldest = this.#byName.size > SUBJECTS_MAX ? this.#byName.values().next().value : undefined;
    if (oldest !== undefined) this.#drop(oldest);
    return subject;
  }

  /** Called after every change of a subject's record. */
  changed(subject: HealthSubject): void {
    if (!subject.isDropped && subject.record?.open != null) this.open.add(subject);
    else this.open.delete(subject);
    if (!subject.isDropped && subject.isAlarmed) this.alarmed.add(subject);
    else this.alarmed.delete(subject);
  }

  /** The subject whose breaker keeps the candidate out of the order, and the breaker; null when none does. */
  breakerOf(
    organizationId: string,
    candidate: Candidate,
    nowMs: number,
  ): { readonly subject: HealthSubject; readonly open: OpenBreaker } | null {
    const { endpoint, credential } = this.of(organizationId, candidate);
    const known = { endpoint: endpoint.record, credential: credential?.record ?? null };
    const open = openBreakerOf(known, nowMs);
    if (open === null) return null;
    return { subject: open === endpoint.record?.open || credential === null ? endpoint : credential, open };
  }

  /** Forgets what was not used for as long as the store keeps it. */
  prune(): void {
    const beforeMs = this.#clock.nowMs() - KEPT_MS;
    for (const subject of this.all) {
      const lastMs = Math.max(subject.usedMs, subject.okAtMs ?? 0, subject.record?.seenMs ?? 0);
      if (lastMs < beforeMs && !subject.isDirty && subject.reporting === null) this.#drop(subject);
    }
  }

  #drop(subject: HealthSubject): void {
    subject.isDropped = true;
    this.#byName.delete(subject.name);
    if (subject.timer !== null) clearTimeout(subject.timer);
    subject.timer = null;
    this.changed(subject);
  }
}
