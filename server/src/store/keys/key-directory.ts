import { setTimeout as pause } from 'node:timers/promises';
import type { Snapshots } from '../configuration/snapshots.ts';
import type { DatabaseHandle } from '../postgres/postgres.ts';
import { createSendGate } from '../send-gate.ts';
import { createSharedReads } from '../shared-reads.ts';
import { storeUnavailable } from '../store-error.ts';
import type { StoreLog } from '../store-log.ts';
import { createHeldKeys, type HeldKey } from './held-keys.ts';
import { createKeyReader } from './read-keys.ts';

export interface KeyDirectoryOptions {
  readonly database: Pick<DatabaseHandle, 'query'>;
  readonly snapshots: Pick<Snapshots, 'onChange'>;
  readonly log: StoreLog;
  /** How many keys are kept; the least recently used goes first. */
  readonly keysMax: number;
  /** Keys looked up at one time; the others wait. Below the size of the pool, which also serves the configuration. */
  readonly readsMax?: number;
  readonly waitingMax?: number;
  readonly retryMs?: number;
}

/** User API keys by their public id, in memory as far as they are in use. */
export interface KeyDirectory {
  /** The hot path: what is in memory, without waiting. Undefined means "call find". */
  get(publicId: string): HeldKey | undefined;
  /**
   * The key, as it was at that version of its organization or later. Undefined when there is no such key, which is
   * never remembered: a key that is made the next moment works. Throws `store_unavailable`, never "unknown", when
   * PostgreSQL cannot answer.
   */
  find(publicId: string, version?: number): Promise<HeldKey | undefined>;
  /** Whether what is held of the organization is of that version or later. */
  isCurrent(organizationId: string, version: number): boolean;
  /** Drops what has changed, so that what is held is of that version or later. Throws `store_unavailable`. */
  catchUp(organizationId: string, version: number): Promise<void>;
  /** Keys in memory. */
  size(): number;
  stop(): void;
}

const READS_MAX = 4;
const WAITING_MAX = 2_000;
const RETRY_MS = 1_000;
/** A read that is overtaken by a change is repeated; the second begins after that change. */
const TRIES_MAX = 3;

export function createKeyDirectory(options: KeyDirectoryOptions): KeyDirectory {
  const { log, keysMax, retryMs = RETRY_MS } = options;
  const held = createHeldKeys({ keysMax });
  const reader = createKeyReader(options.database);
  const gate = createSendGate({
    underWayMax: options.readsMax ?? READS_MAX,
    waitingMax: options.waitingMax ?? WAITING_MAX,
  });
  const reading = new Map<string, Promise<HeldKey | undefined>>();
  /** Organizations whose keys are older than their snapshot, with the version to reach. */
  const behind = new Map<string, number>();
  const stopping = new AbortController();
  let following = false;

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve, reject) => {
      gate.enter(resolve, () => reject(storeUnavailable('postgresql', 'too many keys are being looked up')));
    });
    try {
      return await work();
    } finally {
      gate.leave();
    }
  }

  async function readOnce(publicId: string): Promise<HeldKey | undefined> {
    for (let tries = 1; ; tries += 1) {
      const read = await inTurn(() => reader.key(publicId));
      if (read === undefined) return undefined;
      const knownVersion = held.versionOf(read.organizationId) ?? 0;
      // Overtaken: the other keys have meanwhile reached a later version, and this one may have changed up to it.
      if (read.readVersion < knownVersion && tries < TRIES_MAX) continue;
      // Overtaken by a read of its own past: the database was set back, and what is held with it.
      if (read.readVersion < knownVersion) held.dropOrganization(read.organizationId);
      return held.add(read);
    }
  }

  async function load(publicId: string): Promise<HeldKey | undefined> {
    const joined = await reading.get(publicId);
    if (joined !== undefined) return joined;
    // That a key is unknown counts only from a read that began after the call: it may have been made meanwhile.
    const running = reading.get(publicId);
    if (running !== undefined) return running;
    const begun = readOnce(publicId).finally(() => reading.delete(publicId));
    reading.set(publicId, begun);
    return begun;
  }

  const sync = createSharedReads(async (organizationId) => {
    const since = held.versionOf(organizationId);
    if (since === undefined) return;
    const owners = held.ownersOf(organizationId);
    const changes = await inTurn(() => reader.changes(organizationId, since, owners));
    if (changes === undefined || changes.keyIds === null || changes.version < since) {
      held.dropOrganization(organizationId);
      return;
    }
    for (const keyId of changes.keyIds) held.drop(organizationId, keyId);
    const departed = new Set(changes.departedUserIds);
    const asked = new Set(owners);
    // Nobody has asked about the membership of an owner whose first key was read meanwhile.
    for (const owner of held.ownersOf(organizationId))
      if (departed.has(owner.userId) || !asked.has(owner)) held.dropOwner(organizationId, owner.userId);
    held.advance(organizationId, changes.version);
  });

  const isCurrent = (organizationId: string, version: number) =>
    (held.versionOf(organizationId) ?? version) >= version;

  async function catchUp(organizationId: string, version: number): Promise<void> {
    if (!isCurrent(organizationId, version)) await sync(organizationId);
  }

  /** One organization after the other: whoever is in a hurry has a request, and does not wait for this. */
  async function follow(): Promise<void> {
    if (following) return;
    following = true;
    for (const [organizationId, version] of behind) {
      behind.delete(organizationId);
      try {
        await catchUp(organizationId, version);
      } catch (error) {
        log.warn(
          { err: error, organization_id: organizationId },
          'changed keys could not be read; once more',
        );
        behind.set(organizationId, Math.max(version, behind.get(organizationId) ?? 0));
        await pause(retryMs, undefined, { ref: false, signal: stopping.signal }).catch(() => behind.clear());
      }
    }
    following = false;
  }

  const unsubscribe = options.snapshots.onChange((organizationId, snapshot) => {
    const version = held.versionOf(organizationId);
    if (version === undefined || version === snapshot?.version) return;
    // Gone, or set back to an earlier time: no version that is held means anything.
    if (snapshot === undefined || snapshot.version < version) held.dropOrganization(organizationId);
    else {
      behind.set(organizationId, snapshot.version);
      void follow();
    }
  });

  return {
    get: held.get,
    async find(publicId, version = 0) {
      for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
        const key = held.get(publicId) ?? (await load(publicId));
        if (key === undefined) return undefined;
        if (isCurrent(key.organizationId, version) && held.get(publicId) === key) return key;
        await catchUp(key.organizationId, version);
      }
      throw storeUnavailable('postgresql', 'the key changes faster than it can be read');
    },
    isCurrent,
    catchUp,
    size: () => held.size,
    stop() {
      unsubscribe();
      stopping.abort();
      gate.clear();
    },
  };
}
