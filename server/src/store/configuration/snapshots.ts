import { channel } from 'node:diagnostics_channel';
import { prepareSnapshot } from '../../domain/prepare-snapshot.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Sealer } from '../../kit/seal.ts';
import { inSlices } from '../../kit/slices.ts';
import type { DatabaseHandle } from '../postgres/postgres.ts';
import type { StoreLog } from '../store-log.ts';
import { CONFIG_CHANNEL } from './config-version.ts';
import { createChangeFollower } from './follow-changes.ts';
import { createHeldSnapshots, type HeldSnapshots, type SnapshotListener } from './held-snapshots.ts';
import { loadSnapshot, SLICE_MS, type SnapshotSource } from './load-snapshot.ts';
import { createPollLoop } from './poll-loop.ts';
import { createSnapshotReads, type SnapshotEntry, type SnapshotReads } from './snapshot-reads.ts';

export interface SnapshotsOptions {
  readonly database: Pick<DatabaseHandle, 'db' | 'listen'>;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly log: StoreLog;
  readonly pollIntervalMs?: number;
  /** How many organizations stay in memory; the least recently used is evicted first. */
  readonly organizationsMax?: number;
}

export interface SnapshotsState {
  readonly loaded: number;
  /** Loaded organizations whose newer version is known but not read yet. */
  readonly stale: number;
  readonly lastPollOkAtMs: number | null;
  /** Whether the last poll failed. */
  readonly failing: boolean;
  readonly listening: boolean;
}

export interface Snapshots {
  /** The hot path: reads memory only, without waiting. Undefined means "call load". */
  get(organizationId: string): OrganizationSnapshot | undefined;
  /** Concurrent callers share one read. Throws `not_found` or `store_unavailable`. */
  load(organizationId: string): Promise<OrganizationSnapshot>;
  /**
   * The snapshot in memory when it has at least this version, else what PostgreSQL holds. The result is older than asked for
   * only when the database is, after a restored backup. Throws like `load`.
   */
  atLeast(organizationId: string, version: number): Promise<OrganizationSnapshot>;
  /** Makes a write that this process has committed visible to it immediately. Never throws: the poll retries. */
  refreshNow(organizationId: string): Promise<void>;
  /** Returns a function that removes the listener. */
  onChange(listener: SnapshotListener): () => void;
  state(): SnapshotsState;
  start(): void;
  stop(): Promise<void>;
}

const REFRESHES_MAX = 4;
/** Told after each poll: the version of the configuration that this process has reached, of all organizations in memory. */
const applied = channel('relay:configuration');

export function createSnapshots(options: SnapshotsOptions): Snapshots {
  const { database, clock, log, pollIntervalMs = 1_000, organizationsMax = 10_000 } = options;
  const source = { db: database.db, sealer: options.sealer, clock, log };
  const held = createHeldSnapshots({ organizationsMax });
  const changes = createChangeFollower({ db: database.db, log, held });
  const reads = createSnapshotReads({
    load: (organizationId) => loadPrepared(source, organizationId),
    changed: held.announce,
    gone: held.drop,
  });
  let lastPollOkAtMs: number | null = null;
  let failing = false;
  let subscription: ReturnType<DatabaseHandle['listen']> | undefined;

  const loop = createPollLoop(async () => {
    try {
      const version = await changes.markChanges();
      await refreshStale(held, reads, clock, () => loop.isStopped());
      applied.publish({ version });
      lastPollOkAtMs = clock.nowMs();
      if (failing) log.info({}, 'configuration is current again');
      failing = false;
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'could not refresh the configuration; using the last known one');
      failing = true;
    }
  }, pollIntervalMs);

  return {
    get: held.get,
    async load(organizationId) {
      await changes.anchor();
      const entry = held.entryOf(organizationId);
      return demand(organizationId, entry.snapshot ?? (await reads.read(entry)));
    },
    async atLeast(organizationId, version) {
      await changes.anchor();
      return demand(organizationId, await readAtLeast(reads, held.entryOf(organizationId), version));
    },
    async refreshNow(organizationId) {
      const entry = held.find(organizationId);
      if (entry === undefined) return;
      try {
        await reads.readAfresh(entry);
      } catch (error) {
        entry.forced = true;
        const fields = { err: error, organization_id: organizationId };
        log.warn(fields, 'could not refresh the configuration; the next poll will retry');
      }
    },
    onChange: held.onChange,
    state: () => ({
      loaded: held.size,
      stale: held.all().filter((entry) => isStale(entry, clock.nowMs())).length,
      lastPollOkAtMs,
      failing,
      listening: subscription?.connected() ?? false,
    }),
    start() {
      if (!loop.isStopped()) return;
      loop.start();
      subscription = database.listen(CONFIG_CHANNEL, loop.hint);
    },
    async stop() {
      const stopped = loop.stop();
      await subscription?.close();
      await stopped;
    },
  };
}

/** Requests use the previous snapshot until the tables of this one are complete. */
async function loadPrepared(
  source: SnapshotSource,
  organizationId: string,
): Promise<OrganizationSnapshot | undefined> {
  const snapshot = await loadSnapshot(source, organizationId);
  if (snapshot !== undefined) await inSlices(prepareSnapshot(snapshot), source.clock, SLICE_MS);
  return snapshot;
}

async function readAtLeast(
  reads: SnapshotReads,
  entry: SnapshotEntry,
  version: number,
): Promise<OrganizationSnapshot | undefined> {
  const isOld = () => entry.snapshot === undefined || entry.snapshot.version < version;
  // A running read may be new enough; another is needed only when it began too early.
  if (isOld()) await entry.running?.catch(() => undefined);
  return isOld() ? reads.readAfresh(entry) : entry.snapshot;
}

/** Also where a scheduled price has begun since the snapshot was read. */
function isStale({ snapshot, forced, wantedVersion }: SnapshotEntry, nowMs: number): boolean {
  if (snapshot === undefined) return false;
  return forced || snapshot.version < wantedVersion || nowMs >= (snapshot.pricesChangeAtMs ?? Infinity);
}

/** Reads the stale snapshots, the most recently used first. */
async function refreshStale(
  held: HeldSnapshots,
  reads: SnapshotReads,
  clock: Clock,
  isStopped: () => boolean,
): Promise<void> {
  const nowMs = clock.nowMs();
  const queue = held
    .all()
    .filter((entry) => isStale(entry, nowMs))
    .reverse();
  const worker = async () => {
    for (let entry = queue.shift(); entry !== undefined && !isStopped(); entry = queue.shift())
      await reads.readAfresh(entry);
  };
  await Promise.all(Array.from({ length: REFRESHES_MAX }, worker));
}

function demand(organizationId: string, found: OrganizationSnapshot | undefined): OrganizationSnapshot {
  if (found === undefined) throw new RelayError('not_found', { internal: `organization ${organizationId}` });
  return found;
}
