import { RelayError } from '../../domain/relay-error.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Sealer } from '../../kit/seal.ts';
import type { DatabaseHandle } from '../postgres/postgres.ts';
import type { StoreLog } from '../store-log.ts';
import { CONFIG_CHANNEL, readConfigChanges, readConfigClock } from './config-version.ts';
import { loadSnapshot } from './load-snapshot.ts';

export interface SnapshotsOptions {
  readonly database: Pick<DatabaseHandle, 'db' | 'listen'>;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly log: StoreLog;
  readonly pollIntervalMs?: number;
  /** How many organizations are kept; the least recently used goes first. */
  readonly organizationsMax?: number;
}

export interface SnapshotsState {
  readonly loaded: number;
  /** Loaded organizations whose newer version is known of but not read yet. */
  readonly stale: number;
  readonly lastPollOkAtMs: number | null;
  readonly listening: boolean;
}

/** Undefined: the organization was deleted. */
export type SnapshotListener = (organizationId: string, snapshot: OrganizationSnapshot | undefined) => void;

export interface Snapshots {
  /** The hot path: what is in memory, without waiting. Undefined means "call load". */
  get(organizationId: string): OrganizationSnapshot | undefined;
  /** Concurrent callers share one read. Throws `not_found` or `store_unavailable`. */
  load(organizationId: string): Promise<OrganizationSnapshot>;
  /**
   * What is in memory when it is at least of that version, else what PostgreSQL holds. The answer is older than asked
   * for only where the database itself is, after a restored backup. Throws like `load`.
   */
  atLeast(organizationId: string, version: number): Promise<OrganizationSnapshot>;
  /** Makes a write that this process has committed visible to it at once. Never throws: the poll repeats it. */
  refreshNow(organizationId: string): Promise<void>;
  /** Returns a function that takes the listener off again. */
  onChange(listener: SnapshotListener): () => void;
  state(): SnapshotsState;
  start(): void;
  stop(): Promise<void>;
}

interface Entry {
  readonly organizationId: string;
  snapshot: OrganizationSnapshot | undefined;
  /** The newest version known to exist. */
  wantedVersion: number;
  /** Read again whatever the versions say. */
  forced: boolean;
  running: Promise<OrganizationSnapshot | undefined> | undefined;
  /** A read that will begin after the running one, for callers who wrote after that one had begun. */
  following: Promise<OrganizationSnapshot | undefined> | undefined;
}

const CHANGES_PER_PAGE = 1_000;
const REFRESHES_AT_ONCE = 4;
/** Notifications can come in a storm; polls they ask for keep this distance. */
const HINT_DELAY_MS = 20;

function demand(organizationId: string, found: OrganizationSnapshot | undefined): OrganizationSnapshot {
  if (found === undefined) throw new RelayError('not_found', { internal: `organization ${organizationId}` });
  return found;
}

export function createSnapshots(options: SnapshotsOptions): Snapshots {
  const { database, clock, log, pollIntervalMs = 1_000, organizationsMax = 10_000 } = options;
  const source = { db: database.db, sealer: options.sealer, log };
  /** In order of use, the least recent first. */
  const entries = new Map<string, Entry>();
  const listeners = new Set<SnapshotListener>();
  /** Every change up to this version has been taken note of. */
  let seenVersion: number | undefined;
  let lastPollOkAtMs: number | null = null;
  let failing = false;
  let stopped = true;
  let timer: NodeJS.Timeout | undefined;
  let polling: Promise<void> | undefined;
  let subscription: ReturnType<DatabaseHandle['listen']> | undefined;

  function tell(organizationId: string, snapshot: OrganizationSnapshot | undefined): void {
    for (const listener of listeners) listener(organizationId, snapshot);
  }

  function drop(entry: Entry): void {
    if (entries.get(entry.organizationId) !== entry) return;
    entries.delete(entry.organizationId);
    if (entry.snapshot !== undefined) tell(entry.organizationId, undefined);
  }

  function install(entry: Entry, snapshot: OrganizationSnapshot, force: boolean): void {
    const before = entry.snapshot?.version;
    if (before !== undefined && before > snapshot.version && !force) return;
    entry.snapshot = snapshot;
    if (force) {
      entry.forced = false;
      entry.wantedVersion = snapshot.version;
    }
    const current = entries.get(entry.organizationId) === entry;
    if (current && (force || before !== snapshot.version)) tell(entry.organizationId, snapshot);
  }

  function read(entry: Entry): Promise<OrganizationSnapshot | undefined> {
    const force = entry.forced;
    const running = loadSnapshot(source, entry.organizationId)
      .then((snapshot) => {
        if (snapshot === undefined) drop(entry);
        else install(entry, snapshot, force);
        return snapshot === undefined ? undefined : entry.snapshot;
      })
      .finally(() => {
        entry.running = undefined;
      });
    entry.running = running;
    return running;
  }

  /** A read that begins no earlier than this call. */
  function readAfresh(entry: Entry): Promise<OrganizationSnapshot | undefined> {
    if (entry.running === undefined) return read(entry);
    entry.following ??= entry.running
      .catch(() => undefined)
      .then(() => {
        entry.following = undefined;
        return read(entry);
      });
    return entry.following;
  }

  function entryOf(organizationId: string): Entry {
    const existing = entries.get(organizationId);
    if (existing !== undefined) return existing;
    const entry: Entry = {
      organizationId,
      snapshot: undefined,
      wantedVersion: 0,
      forced: false,
      running: undefined,
      following: undefined,
    };
    entries.set(organizationId, entry);
    for (const [oldest, candidate] of entries) {
      if (entries.size <= organizationsMax) break;
      if (candidate !== entry && candidate.running === undefined) entries.delete(oldest);
    }
    return entry;
  }

  /**
   * The clock is read before the first snapshot is. Whatever is loaded later is at least as new as that, and
   * whatever changes later has a greater version, so no change falls between the two.
   */
  async function anchor(): Promise<void> {
    if (seenVersion !== undefined) return;
    const version = await readConfigClock(source.db);
    seenVersion ??= version;
  }

  async function takeNoteOfChanges(): Promise<void> {
    await anchor();
    const clockVersion = await readConfigClock(source.db);
    let from = seenVersion ?? clockVersion;
    if (clockVersion < from) {
      // Time went backwards: the database was restored from a backup. No version in memory means anything.
      log.warn({ seen_version: from, clock_version: clockVersion }, 'configuration versions went backwards');
      for (const entry of entries.values()) entry.forced = true;
      seenVersion = clockVersion;
      return;
    }
    while (clockVersion > from) {
      const changes = await readConfigChanges(source.db, from, CHANGES_PER_PAGE);
      for (const change of changes) {
        const entry = entries.get(change.organizationId);
        if (entry === undefined) continue;
        if (change.deleted) drop(entry);
        else entry.wantedVersion = Math.max(entry.wantedVersion, change.version);
      }
      const last = changes.at(-1)?.version ?? clockVersion;
      from = changes.length < CHANGES_PER_PAGE ? Math.max(last, clockVersion) : last;
      seenVersion = from;
    }
  }

  const isStale = (entry: Entry) =>
    entry.snapshot !== undefined && (entry.forced || entry.snapshot.version < entry.wantedVersion);

  async function refreshStale(): Promise<void> {
    const queue = [...entries.values()].filter(isStale).reverse();
    const worker = async () => {
      for (let entry = queue.shift(); entry !== undefined && !stopped; entry = queue.shift()) {
        await readAfresh(entry);
      }
    };
    await Promise.all(Array.from({ length: REFRESHES_AT_ONCE }, worker));
  }

  async function poll(): Promise<void> {
    try {
      await takeNoteOfChanges();
      await refreshStale();
      lastPollOkAtMs = clock.nowMs();
      if (failing) log.info({}, 'configuration is current again');
      failing = false;
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'configuration cannot be refreshed; serving the last known');
      failing = true;
    }
  }

  function schedule(delayMs: number): void {
    if (stopped) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      polling = poll().finally(() => {
        polling = undefined;
        schedule(pollIntervalMs);
      });
    }, delayMs);
  }

  function hint(): void {
    if (stopped) return;
    // A poll under way may have read the clock before this change; the next one follows at once.
    if (polling === undefined) schedule(HINT_DELAY_MS);
    else void polling.then(() => schedule(HINT_DELAY_MS));
  }

  return {
    get(organizationId) {
      const entry = entries.get(organizationId);
      if (entry?.snapshot === undefined) return undefined;
      entries.delete(organizationId);
      entries.set(organizationId, entry);
      return entry.snapshot;
    },
    async load(organizationId) {
      await anchor();
      const entry = entryOf(organizationId);
      return demand(organizationId, entry.snapshot ?? (await (entry.running ?? read(entry))));
    },
    async atLeast(organizationId, version) {
      await anchor();
      const entry = entryOf(organizationId);
      const isOld = () => entry.snapshot === undefined || entry.snapshot.version < version;
      // A read under way may do; only when it had begun too early is another needed.
      if (isOld()) await entry.running?.catch(() => undefined);
      const snapshot = isOld() ? await readAfresh(entry) : entry.snapshot;
      return demand(organizationId, snapshot);
    },
    async refreshNow(organizationId) {
      const entry = entries.get(organizationId);
      if (entry === undefined) return;
      try {
        await readAfresh(entry);
      } catch (error) {
        entry.forced = true;
        log.warn(
          { err: error, organization_id: organizationId },
          'configuration was not refreshed; the poll will',
        );
      }
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    state: () => ({
      loaded: entries.size,
      stale: [...entries.values()].filter(isStale).length,
      lastPollOkAtMs,
      listening: subscription?.connected() ?? false,
    }),
    start() {
      if (!stopped) return;
      stopped = false;
      schedule(0);
      subscription = database.listen(CONFIG_CHANNEL, hint);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await subscription?.close();
      await polling;
    },
  };
}
