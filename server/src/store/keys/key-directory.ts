import type { Snapshots } from '../configuration/snapshots.ts';
import type { DatabaseHandle } from '../postgres/postgres.ts';
import { createSendGate } from '../send-gate.ts';
import { storeUnavailable } from '../store-error.ts';
import type { StoreLog } from '../store-log.ts';
import { createKeyFollower } from './follow-keys.ts';
import { createHeldKeys, type HeldKey } from './held-keys.ts';
import { createKeyLookups } from './key-lookups.ts';
import { createKeyReader } from './read-keys.ts';

export interface KeyDirectoryOptions {
  readonly database: Pick<DatabaseHandle, 'query'>;
  readonly snapshots: Pick<Snapshots, 'onChange'>;
  readonly log: StoreLog;
  /** How many keys stay in memory; the least recently used is evicted first. */
  readonly keysMax: number;
  /** Concurrent lookups; further ones wait. Below the size of the pool, which also serves the configuration. */
  readonly readsMax?: number;
  readonly waitingMax?: number;
  readonly retryMs?: number;
}

/** User API keys by public id. The keys in use stay in memory. */
export interface KeyDirectory {
  /** The hot path: reads memory only, without waiting. Undefined means "call find". */
  get(publicId: string): HeldKey | undefined;
  /**
   * The key, as of that version of its organization or later. Undefined when the key does not exist, which is never cached, so
   * that a key works as soon as it is created. Throws `store_unavailable`, never "unknown", when PostgreSQL cannot answer.
   */
  find(publicId: string, version?: number): Promise<HeldKey | undefined>;
  /** Whether the organization's held keys have reached that version. */
  isCurrent(organizationId: string, version: number): boolean;
  /** Drops changed keys, so that the held ones have reached that version. Throws `store_unavailable`. */
  catchUp(organizationId: string, version: number): Promise<void>;
  /** Keys in memory. */
  size(): number;
  stop(): void;
}

const READS_MAX = 4;
const WAITING_MAX = 2_000;
const RETRY_MS = 1_000;
/** A key that changes while it is read is read again. */
const TRIES_MAX = 3;

export function createKeyDirectory(options: KeyDirectoryOptions): KeyDirectory {
  const { log, keysMax, retryMs = RETRY_MS } = options;
  const held = createHeldKeys({ keysMax });
  const reader = createKeyReader(options.database);
  const gate = createSendGate({
    runningMax: options.readsMax ?? READS_MAX,
    waitingMax: options.waitingMax ?? WAITING_MAX,
  });

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

  const lookups = createKeyLookups({ held, read: (publicId) => inTurn(() => reader.key(publicId)) });
  const follower = createKeyFollower({
    held,
    read: (organizationId, since, owners) => inTurn(() => reader.changes(organizationId, since, owners)),
    snapshots: options.snapshots,
    log,
    retryMs,
  });

  return {
    get: held.get,
    async find(publicId, version = 0) {
      for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
        const key = held.get(publicId) ?? (await lookups.load(publicId));
        if (key === undefined) return undefined;
        if (follower.isCurrent(key.organizationId, version) && held.get(publicId) === key) return key;
        await follower.catchUp(key.organizationId, version);
      }
      throw storeUnavailable('postgresql', 'the key changes faster than it can be read');
    },
    isCurrent: follower.isCurrent,
    catchUp: follower.catchUp,
    size: () => held.size,
    stop() {
      follower.stop();
      gate.clear();
    },
  };
}
