import { routingTableOf } from '../../domain/routing/routing.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Log } from '../../kit/log.ts';
import type { HealthMessage, HealthStore } from './health-store.ts';
import type { HealthSubject } from './health-subject.ts';
import type { CandidateSubjects, HealthSubjects } from './health-subjects.ts';
import { adopt, parseRecord } from './report-health.ts';

const LEARNT_AT_ONCE = 100;

/** What other processes have stored or announced. */
export interface SharedRecords {
  /** Reads these again. Throws when the store is unavailable. */
  refresh(some: Iterable<HealthSubject>): Promise<void>;
  /** The same for endpoints and their credentials. Never throws: health is not worth failing for. */
  refreshAll(some: readonly CandidateSubjects[]): Promise<void>;
  learn(snapshot: OrganizationSnapshot): void;
  /** Hears announcements until the returned function is called. */
  subscribe(): Promise<() => Promise<void>>;
}

export function createSharedRecords(deps: {
  readonly store: HealthStore;
  readonly subjects: HealthSubjects;
  readonly log: Log;
}): SharedRecords {
  const { store, subjects, log } = deps;
  const changed = (subject: HealthSubject) => subjects.changed(subject);
  /** By organization, the snapshots that are being learnt. */
  const newest = new Map<string, OrganizationSnapshot>();

  async function refresh(some: Iterable<HealthSubject>): Promise<void> {
    for (const [organizationId, own] of Map.groupBy(some, (each) => each.organizationId)) {
      const names = own.map(({ name }) => name);
      const texts = await store.read(organizationId, names);
      for (const [index, subject] of own.entries()) {
        const text = texts[index] ?? null;
        // The answer to a report that is in flight is newer.
        if (subject.reporting === null && text !== subject.text)
          adopt({ changed }, subject, parseRecord(text), text);
      }
    }
  }

  async function refreshAll(some: readonly CandidateSubjects[]): Promise<void> {
    const all = new Set(some.flatMap(({ endpoint, credential }) => [endpoint, credential ?? endpoint]));
    // The store reports its own outage.
    await refresh(all).catch(() => undefined);
  }

  /** Some at a time: an organization may have 10,000 endpoints, and its requests go on meanwhile. */
  async function learn(snapshot: OrganizationSnapshot): Promise<void> {
    const { organizationId } = snapshot;
    const candidates = [...routingTableOf(snapshot).candidates.values()];
    newest.set(organizationId, snapshot);
    // A newer snapshot ends the loop, because an older candidate would drop what is known of its successor.
    for (let from = 0; from < candidates.length; from += LEARNT_AT_ONCE) {
      if (newest.get(organizationId) !== snapshot) return;
      const some = candidates.slice(from, from + LEARNT_AT_ONCE);
      await refreshAll(some.map((candidate) => subjects.of(organizationId, candidate)));
    }
    if (newest.get(organizationId) === snapshot) newest.delete(organizationId);
  }

  function heard({ organizationId, subject: name, text }: HealthMessage): void {
    const record = parseRecord(text);
    if (record === null) return;
    const isWrong = (record.row ?? record.open) !== null;
    const subject =
      subjects.find(name) ?? (isWrong ? subjects.subject(organizationId, name, record.of) : undefined);
    if (subject !== undefined && subject.reporting === null) adopt({ changed }, subject, record, text);
  }

  return {
    refresh,
    refreshAll,
    learn: (snapshot) =>
      void learn(snapshot).catch((error: unknown) => {
        log.warn({ err: error }, 'could not read endpoint health');
      }),
    subscribe: () =>
      store.subscribe((message) => {
        try {
          heard(message);
        } catch (error) {
          log.warn({ err: error }, 'ignored an unreadable health announcement');
        }
      }),
  };
}
