import type { KnownHealth } from '../../domain/routing/health-view.ts';
import type { Candidate } from '../../domain/routing/routing.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Log } from '../../kit/log.ts';
import { countMoves, type HealthCounts, logMove, type SnapshotInMemory } from './health-moves.ts';
import type { HealthStore } from './health-store.ts';
import { HealthSubjects } from './health-subjects.ts';
import { createHealthKeeper } from './keep-health.ts';
import { type AttemptNotes, createAttemptNotes } from './note-attempts.ts';
import { createOffers, type Offers } from './offer-candidates.ts';
import { createHealthReporter } from './report-health.ts';
import { createSharedRecords } from './shared-records.ts';

/** What is known of the health of endpoints, from the requests of all gateways. */
export interface EndpointHealth extends Offers, AttemptNotes {
  /** What all gateways know, by endpoint, for the management API. While the store is unavailable, what this process knows. */
  read(organizationId: string, candidates: readonly Candidate[]): Promise<ReadonlyMap<string, KnownHealth>>;
  /** Learns which endpoints of an organization are down. */
  learn(snapshot: OrganizationSnapshot): void;
  /** True for one process of the deployment, until the time has passed: it may ask the provider by itself. */
  claimProbe(organizationId: string, subject: string, forMs: number): Promise<boolean>;
  /** Of this process, for metrics: of what is configured now. */
  counts(snapshotOf: SnapshotInMemory): HealthCounts;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createEndpointHealth(deps: {
  readonly store: HealthStore;
  readonly clock: Clock;
  readonly log: Log;
}): EndpointHealth {
  const { store, clock, log } = deps;
  const subjects = new HealthSubjects(clock);
  const moves = countMoves();
  const reporter = createHealthReporter({
    store,
    clock,
    changed: (subject) => subjects.changed(subject),
    moved(subject, transition, record) {
      moves.moved(subject, transition);
      logMove(log, subject, transition, record);
    },
  });
  const shared = createSharedRecords({ store, subjects, log });
  const keeper = createHealthKeeper({ clock, subjects, reporter, shared });
  return {
    ...createOffers({ store, clock, subjects }),
    ...createAttemptNotes({ clock, subjects, reporter, keeper, moves }),
    async read(organizationId, candidates) {
      const own = candidates.map((candidate) => subjects.of(organizationId, candidate));
      // What this process has not reported yet is part of the answer.
      await keeper.flush(own.map(({ endpoint }) => endpoint).filter(({ isDirty }) => isDirty));
      await shared.refreshAll(own);
      return new Map(
        candidates.map(({ endpoint }, index) => [
          endpoint.id,
          {
            endpoint: own[index]?.endpoint.record ?? null,
            credential: own[index]?.credential?.record ?? null,
            cooldownUntilMs: null,
          },
        ]),
      );
    },
    learn: shared.learn,
    claimProbe: store.claimProbe,
    counts: (snapshotOf) => moves.counts(subjects, clock.nowMs(), snapshotOf),
    start: keeper.start,
    stop: keeper.stop,
  };
}
