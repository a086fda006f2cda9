import type { HealthRecord, HealthReport } from '../../domain/routing/health-record.ts';
import { afterReport } from '../../domain/routing/health-report.ts';
import type { Clock } from '../../kit/clock.ts';
import type { HealthStore } from './health-store.ts';
import type { HealthSubject } from './health-subject.ts';

/** The first reports of a second are sent immediately, the others this far apart. */
const IMMEDIATE_MAX = 3;
const APART_MS = 200;
const SECOND_MS = 1_000;
/** Each try is lost only to a gateway that succeeded. What is left then counts in the next report. */
const TRIES_MAX = 8;

export type BreakerTransition = 'opened' | 'closed';

export interface ReporterDeps {
  readonly store: HealthStore;
  readonly clock: Clock;
  /** Called after every change of a subject's record, in whichever process it was made. */
  readonly changed: (subject: HealthSubject) => void;
  /** Called in the one process whose report opened or closed a breaker. */
  readonly moved: (subject: HealthSubject, transition: BreakerTransition, record: HealthRecord) => void;
}

export interface HealthReporter {
  /** Reports now, or as soon as the subject may report again. */
  report(subject: HealthSubject): void;
  /** Reports within this time, unless another gateway's report makes it needless. */
  reportWithin(subject: HealthSubject, withinMs: number, isNeeded: () => boolean): void;
  /** Reports now and waits for it. Never throws. */
  reportNow(subject: HealthSubject): Promise<void>;
}

/**
 * Brings what this process has seen into the shared record: the rule computes the new record from the one that is known here, and the
 * store takes it unless another gateway was faster; then the rule is applied to the newer one.
 */
export function createHealthReporter(deps: ReporterDeps): HealthReporter {
  const { store, clock } = deps;

  async function send(subject: HealthSubject, report: HealthReport): Promise<void> {
    const { organizationId, name, of } = subject;
    try {
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        const before = subject.record;
        const after = afterReport(before, of, report, clock.nowMs());
        const text = JSON.stringify(after);
        const result = await store.replace(organizationId, name, subject.text, text);
        if (result.replaced) {
          adopt(deps, subject, after, text);
          tell(deps, subject, before, after);
          return;
        }
        adopt(deps, subject, parseRecord(result.stored), result.stored);
      }
    } catch {
      // The store reports its own outage. Meanwhile this process acts on what it sees itself.
      const before = subject.record;
      const after = afterReport(before, of, report, clock.nowMs());
      adopt(deps, subject, after, subject.text);
      tell(deps, subject, before, after);
    }
  }

  async function reportNow(subject: HealthSubject): Promise<void> {
    // What was seen since an earlier report began is not part of it.
    while (subject.reporting !== null) await subject.reporting;
    if (subject.timer !== null) clearTimeout(subject.timer);
    subject.timer = null;
    subject.reportedMs = clock.monotonicMs();
    subject.reports += 1;
    subject.reporting = send(subject, subject.takeReport());
    await subject.reporting;
    subject.reporting = null;
    if (subject.hasNews) report(subject);
  }

  function later(subject: HealthSubject, delayMs: number, isNeeded: () => boolean): void {
    if (subject.timer !== null) return;
    subject.timer = setTimeout(() => {
      subject.timer = null;
      if (isNeeded()) void reportNow(subject);
    }, delayMs);
    subject.timer.unref();
  }

  function report(subject: HealthSubject): void {
    if (subject.reporting !== null) return;
    const nowMs = clock.monotonicMs();
    if (nowMs - subject.secondMs >= SECOND_MS) [subject.secondMs, subject.reports] = [nowMs, 0];
    const restMs = subject.reports < IMMEDIATE_MAX ? 0 : subject.reportedMs + APART_MS - nowMs;
    if (restMs <= 0) void reportNow(subject);
    else later(subject, restMs, () => true);
  }

  return {
    report,
    reportNow,
    reportWithin: (subject, withinMs, isNeeded) => later(subject, withinMs, isNeeded),
  };
}

/** Null for nothing, and for a text that this version cannot read. */
export function parseRecord(text: string | null): HealthRecord | null {
  if (text === null) return null;
  try {
    const record = JSON.parse(text) as HealthRecord;
    return typeof record.of === 'string' && Array.isArray(record.slots) ? record : null;
  } catch {
    return null;
  }
}

/** A record of another configuration tells nothing about this one. */
export function adopt(
  { changed }: Pick<ReporterDeps, 'changed'>,
  subject: HealthSubject,
  record: HealthRecord | null,
  text: string | null,
): void {
  subject.record = record?.of === subject.of ? record : null;
  subject.text = text;
  changed(subject);
}

function tell(
  { store, moved }: ReporterDeps,
  subject: HealthSubject,
  before: HealthRecord | null,
  after: HealthRecord,
): void {
  const wasOpen = (before?.open ?? null) !== null;
  const isOpen = after.open !== null;
  if (wasOpen !== isOpen) moved(subject, isOpen ? 'opened' : 'closed', after);
  const hadRow = (before?.row ?? null) !== null;
  const probed = before?.open?.failedProbes !== after.open?.failedProbes;
  if (wasOpen === isOpen && hadRow === (after.row !== null) && !probed) return;
  const { organizationId, name, text } = subject;
  if (text !== null) store.announce({ organizationId, subject: name, text });
}
