import type { Health } from '@relay/contract';
import type { HealthRecord } from '../../domain/routing/health-record.ts';
import { seenHealth } from '../../domain/routing/health-view.ts';
import type { HealthCount } from '../../domain/routing/upstream-verdict.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Log } from '../../kit/log.ts';
import type { HealthSubject } from './health-subject.ts';
import type { HealthSubjects } from './health-subjects.ts';
import type { BreakerTransition } from './report-health.ts';

/** Metrics name so many endpoints at most; those that are down come first. */
const NAMED_MAX = 200;

export type SubjectKind = 'endpoint' | 'credential';
export type ProbeResult = 'succeeded' | 'failed' | 'inconclusive';

export interface HealthCounts {
  readonly transitions: Readonly<Record<SubjectKind, Readonly<Record<BreakerTransition, number>>>>;
  readonly probes: Readonly<Record<ProbeResult, number>>;
  /** Some of the endpoints that are not well. */
  readonly unwell: readonly { readonly endpointId: string; readonly health: Health }[];
  /** How many endpoints and credentials are known to be down. */
  readonly open: Readonly<Record<SubjectKind, number>>;
}

export interface HealthMoves {
  moved(subject: HealthSubject, transition: BreakerTransition): void;
  probed(count: HealthCount): void;
  counts(subjects: HealthSubjects, nowMs: number, snapshotOf: SnapshotInMemory): HealthCounts;
}

/** Undefined for an organization that this process doesn't hold. */
export type SnapshotInMemory = (organizationId: string) => OrganizationSnapshot | undefined;

/** Counts what this process caused, in plain numbers. */
export function countMoves(): HealthMoves {
  const transitions = {
    endpoint: { opened: 0, closed: 0 },
    credential: { opened: 0, closed: 0 },
  };
  const probes: Record<ProbeResult, number> = { succeeded: 0, failed: 0, inconclusive: 0 };
  return {
    moved(subject: HealthSubject, transition: BreakerTransition): void {
      transitions[kindOf(subject)][transition] += 1;
    },
    probed(count: HealthCount): void {
      const failed = count === 'fault' || count === 'credential_refused';
      probes[failed ? 'failed' : count === 'neither' ? 'inconclusive' : 'succeeded'] += 1;
    },
    counts(subjects, nowMs, snapshotOf) {
      const open: Record<SubjectKind, number> = { endpoint: 0, credential: 0 };
      for (const subject of subjects.open) if (isConfigured(subject, snapshotOf)) open[kindOf(subject)] += 1;
      return { transitions, probes, unwell: unwellOf(subjects, nowMs, snapshotOf), open };
    },
  };
}

/** The record of an endpoint that was deleted or disabled while it was down stays for a while. */
function isConfigured(subject: HealthSubject, snapshotOf: SnapshotInMemory): boolean {
  const snapshot = snapshotOf(subject.organizationId);
  if (snapshot === undefined) return true;
  return kindOf(subject) === 'endpoint'
    ? snapshot.endpoints.get(idOf(subject))?.enabled === true
    : snapshot.credentials.has(idOf(subject));
}

function unwellOf(
  subjects: HealthSubjects,
  nowMs: number,
  snapshotOf: SnapshotInMemory,
): HealthCounts['unwell'] {
  const unwell: { endpointId: string; health: Health }[] = [];
  for (const subject of [...subjects.open, ...subjects.all]) {
    if (unwell.length >= NAMED_MAX) break;
    if (kindOf(subject) !== 'endpoint' || subject.record === null) continue;
    if (!isConfigured(subject, snapshotOf)) continue;
    const known = { endpoint: subject.record, credential: null, cooldownUntilMs: null };
    const { health } = seenHealth(known, nowMs);
    const endpointId = idOf(subject);
    if (health === 'healthy' || health === 'unknown') continue;
    if (!unwell.some((each) => each.endpointId === endpointId)) unwell.push({ endpointId, health });
  }
  return unwell;
}

/** One line for the whole deployment: only the process whose report made the change writes it. */
export function logMove(
  log: Log,
  subject: HealthSubject,
  transition: BreakerTransition,
  record: HealthRecord,
): void {
  const fields = {
    organization: subject.organizationId,
    [kindOf(subject)]: idOf(subject),
    reason: record.open?.reason ?? record.lastError?.message ?? null,
  };
  if (transition === 'opened') log.warn(fields, `${kindOf(subject)} is down`);
  else log.info(fields, `${kindOf(subject)} is up again`);
}

function kindOf({ name }: HealthSubject): SubjectKind {
  return name.startsWith('credential:') ? 'credential' : 'endpoint';
}

function idOf({ name }: HealthSubject): string {
  return name.slice(name.indexOf(':') + 1);
}
