import { RelayError } from '../../domain/relay-error.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Log } from '../../kit/log.ts';
import type { Snapshots } from '../../store/configuration/snapshots.ts';
import { snapshotAtFence } from '../../store/keys/freshness.ts';
import type { KnownFences } from '../../store/keys/known-fences.ts';

/** No request is dispatched on a fence that was read longer ago than this. */
const AGE_MS_MAX = 200;
/** From this age on the fence is read ahead, so that requests under load do not wait for it. */
const AGE_MS_WANTED = 100;
/** A store that takes longer counts as unavailable. */
const READ_MS_MAX = 1_500;
/** How long the stores are not asked again after neither answered. */
const AWAY_MS = 1_000;

export interface NewestSnapshotDeps {
  readonly fences: Pick<KnownFences, 'known' | 'read' | 'forget'>;
  readonly snapshots: Pick<Snapshots, 'get' | 'atLeast'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The snapshot that a dispatch is decided on; the request may have arrived long before. */
export interface NewestSnapshot {
  /** Reads the fence ahead if it will be needed; the request does not wait. */
  prepare(organizationId: string): void;
  /**
   * The snapshot itself if no stricter guardrail was confirmed up to 200 ms ago, otherwise a newer one. Throws
   * `store_unavailable` when a newer one exists and cannot be read. When neither store answers, the known snapshot is used:
   * management could not have confirmed a change without the stores either.
   */
  of(snapshot: OrganizationSnapshot): OrganizationSnapshot | Promise<OrganizationSnapshot>;
  /** The newest one in memory. */
  held(snapshot: OrganizationSnapshot): OrganizationSnapshot;
}

export function createNewestSnapshot(deps: NewestSnapshotDeps): NewestSnapshot {
  const { fences, snapshots, clock } = deps;
  const reads = new Map<string, { readonly startMs: number; readonly version: Promise<number | null> }>();
  let awayUntilMs = Number.NEGATIVE_INFINITY;

  function ageMs(organizationId: string): number {
    const known = fences.known(organizationId);
    return known === undefined ? Number.POSITIVE_INFINITY : clock.monotonicMs() - known.readMs;
  }

  /** Null when neither store answers. A read in progress is shared while it is recent enough. */
  function read(organizationId: string): Promise<number | null> {
    const running = reads.get(organizationId);
    const startMs = clock.monotonicMs();
    if (running !== undefined && startMs - running.startMs <= AGE_MS_MAX) return running.version;
    const version = withinTime(fences.read(organizationId)).catch((error: unknown) => {
      awayUntilMs = clock.monotonicMs() + AWAY_MS;
      deps.log.warn(
        { err: error },
        'could not read the newest configuration version; using the last known one',
      );
      return null;
    });
    const entry = { startMs, version };
    reads.set(organizationId, entry);
    void version.finally(() => {
      if (reads.get(organizationId) === entry) reads.delete(organizationId);
    });
    return version;
  }

  function newestHeld(snapshot: OrganizationSnapshot): OrganizationSnapshot {
    const held = snapshots.get(snapshot.organizationId);
    return held !== undefined && held.version > snapshot.version ? held : snapshot;
  }

  async function follow(snapshot: OrganizationSnapshot): Promise<OrganizationSnapshot> {
    const { organizationId } = snapshot;
    const version = await read(organizationId);
    const newest = newestHeld(snapshot);
    if (version === null || newest.version >= version) return newest;
    return snapshotAtFence(deps, organizationId, version);
  }

  return {
    prepare(organizationId) {
      if (ageMs(organizationId) <= AGE_MS_WANTED || clock.monotonicMs() < awayUntilMs) return;
      void read(organizationId);
    },
    of(snapshot) {
      const known = fences.known(snapshot.organizationId);
      const nowMs = clock.monotonicMs();
      const isYoung = known !== undefined && nowMs - known.readMs <= AGE_MS_MAX;
      if (isYoung && known.version <= snapshot.version) return snapshot;
      if (nowMs < awayUntilMs && (known === undefined || known.version <= snapshot.version)) {
        // The poll may have loaded a newer snapshot although the read failed.
        return newestHeld(snapshot);
      }
      return follow(snapshot);
    },
    held: newestHeld,
  };
}

function withinTime<T>(reading: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const internal = `no response within ${READ_MS_MAX / 1_000} s`;
    const late = () => reject(new RelayError('store_unavailable', { internal }));
    const timer = setTimeout(late, READ_MS_MAX);
    reading.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
