import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Log } from '../../kit/log.ts';
import type { Snapshots } from '../../store/configuration/snapshots.ts';
import { snapshotAtFence } from '../../store/keys/freshness.ts';
import type { KnownFences } from '../../store/keys/known-fences.ts';

/** Nothing is dispatched on what was known longer ago than this. */
const AGE_MS_MAX = 200;
/** From here on the fence is read ahead, so that under load nobody has to wait for it. */
const AGE_MS_WANTED = 100;
/** A store that takes longer is away, as far as a request that could be dispatched is concerned. */
const READ_MS_MAX = 1_500;
/** While neither store answers, not every request finds it out for itself. */
const AWAY_MS = 1_000;

export interface NewestSnapshotDeps {
  readonly fences: Pick<KnownFences, 'known' | 'read' | 'forget'>;
  readonly snapshots: Pick<Snapshots, 'get' | 'atLeast'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** What a dispatch may be decided on, although the request may have come long ago. */
export interface NewestSnapshot {
  /** Reads the fence ahead if it will be needed; the request goes on meanwhile. */
  prepare(organizationId: string): void;
  /**
   * The snapshot itself while nothing that makes guardrails stricter was confirmed up to 200 ms ago; else a newer one. Throws
   * `store_unavailable` when a newer one is known to exist and cannot be read. When not even that can be found out, what is
   * known goes on: whoever was to confirm a change would not have reached the stores either.
   */
  of(snapshot: OrganizationSnapshot): OrganizationSnapshot | Promise<OrganizationSnapshot>;
}

export function createNewestSnapshot(deps: NewestSnapshotDeps): NewestSnapshot {
  const { fences, snapshots, clock } = deps;
  const reads = new Map<string, { readonly startMs: number; readonly version: Promise<number | null> }>();
  let awayUntilMs = Number.NEGATIVE_INFINITY;

  function ageMs(organizationId: string): number {
    const known = fences.known(organizationId);
    return known === undefined ? Number.POSITIVE_INFINITY : clock.monotonicMs() - known.readMs;
  }

  /** Null when neither store says. A read that is under way is shared while it is young enough. */
  function read(organizationId: string): Promise<number | null> {
    const running = reads.get(organizationId);
    const startMs = clock.monotonicMs();
    if (running !== undefined && startMs - running.startMs <= AGE_MS_MAX) return running.version;
    const version = withinTime(fences.read(organizationId)).catch((error: unknown) => {
      awayUntilMs = clock.monotonicMs() + AWAY_MS;
      deps.log.warn({ err: error }, 'the newest configuration cannot be found out; the last known goes on');
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
        // The poll may have got through where the read did not.
        return newestHeld(snapshot);
      }
      return follow(snapshot);
    },
  };
}

function withinTime<T>(reading: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`no answer within ${READ_MS_MAX} ms`));
    const timer = setTimeout(late, READ_MS_MAX);
    reading.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
