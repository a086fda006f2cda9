import type { Redis } from '../store/redis/redis.ts';
import { prefixOfShard, SHARDS, usageStreamOf } from '../store/redis/shards.ts';
import { createDaysAhead } from './days-ahead.ts';
import { startRetention } from './retention.ts';
import { createShardReader, type ReadPortion, type ShardReader } from './shard-reader.ts';
import { createStreamGroup, type StreamGroup } from './stream-group.ts';
import {
  acknowledgeEntries,
  type ReadyEntries,
  readyEntries,
  type TakenEntry,
  type WriteDeps,
  writeEntries,
} from './write-entries.ts';

export interface LedgerWorkerDeps extends WriteDeps {
  readonly redis: Redis;
  /** Unique per process. Other processes claim the entries of a dead one. */
  readonly consumer: string;
  /** A worker that holds an entry for this long is considered dead, and the entry is claimed. */
  readonly abandonedMs?: number;
  readonly claimEveryMs?: number;
  /** Days that the ledger keeps its rows. */
  readonly retentionDays?: number;
}

export interface LedgerWorker {
  running(): boolean;
  /** Since the start. */
  counts(): { readonly rows: number; readonly poisoned: number };
  stop(): Promise<void>;
}

const IDLE_MS_MIN = 50;
const IDLE_MS_MAX = 250;
const FAILURE_MS = 1_000;
const ABANDONED_MS = 30_000;
const CLAIM_EVERY_MS = 10_000;
const RETENTION_DAYS = 400;

/** How much is read from a shard, and how many records of all shards one write takes. */
interface Portion extends ReadPortion {
  readonly recordsPerWrite: number;
}
const STEADY: Portion = { entriesPerRead: 50, reads: 1, recordsPerWrite: 500 };
/** Larger writes update each rollup less often. One shard may hold nearly the whole backlog. */
const BACKLOG: Portion = { entriesPerRead: 400, reads: 5, recordsPerWrite: 4_000 };

/**
 * Moves records from the usage streams of all shards into the ledger, a bounded number from each shard in turn. It acknowledges an
 * entry only after its rows are committed, and the ledger inserts a row once per request id. A worker may therefore die at any
 * moment, and another may repeat its work.
 */
export function startLedgerWorker(deps: LedgerWorkerDeps): LedgerWorker {
  const counts = { rows: 0, poisoned: 0 };
  const shards = Array.from({ length: SHARDS }, (_, shard) => {
    const stream = usageStreamOf(prefixOfShard(shard));
    return createShardReader(createStreamGroup(deps.redis, stream, deps.consumer), deps.clock);
  });
  let stopping = false;
  let wake: (() => void) | null = null;
  let troubled = false;
  const turn = createTurn(deps, { shards, counts, trouble, isStopping: () => stopping });

  function pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Logs an outage once. */
  function trouble(error: unknown): void {
    if (!troubled) deps.log.warn({ err: error }, 'the ledger cannot be written; records stay in the stream');
    troubled = true;
  }

  async function run(): Promise<void> {
    let idleMs = IDLE_MS_MIN;
    let portion = STEADY;
    while (!stopping) {
      try {
        const { moved, more } = await turn(portion);
        if (troubled && shards.every((shard) => shard.isDue())) {
          troubled = false;
          deps.log.info({}, 'the ledger is written again');
        }
        portion = more ? BACKLOG : STEADY;
        idleMs = moved > 0 ? IDLE_MS_MIN : Math.min(IDLE_MS_MAX, idleMs * 1.5);
        // Waits under low load as well, so that records are written together.
        if (!more && !stopping) await pause(idleMs);
      } catch (error) {
        trouble(error);
        // The batch may have been too large.
        portion = STEADY;
        if (!stopping) await pause(FAILURE_MS);
      }
    }
    // A consumer that does not leave stays in the list of its group forever.
    await Promise.allSettled(shards.map(({ group }) => group.leave()));
  }

  const retention = startRetention({ ...deps, ledgerDays: deps.retentionDays ?? RETENTION_DAYS });
  const finished = run();
  return {
    running: () => !stopping,
    counts: () => ({ ...counts }),
    async stop() {
      stopping = true;
      wake?.();
      await Promise.all([finished, retention.stop()]);
    },
  };
}

interface Turning {
  readonly shards: readonly ShardReader[];
  readonly counts: { rows: number; poisoned: number };
  readonly trouble: (error: unknown) => void;
  readonly isStopping: () => boolean;
}

/** Reads every shard once and writes the entries. Throws when PostgreSQL cannot be written. */
function createTurn(deps: LedgerWorkerDeps, { shards, counts, trouble, isStopping }: Turning) {
  const { clock, abandonedMs = ABANDONED_MS, claimEveryMs = CLAIM_EVERY_MS } = deps;
  let turns = 0;
  let claimedAtMs = clock.monotonicMs() - claimEveryMs;
  const makePartitions = createDaysAhead(deps);

  async function write(ready: ReadyEntries<StreamGroup>, from: readonly ShardReader[]): Promise<void> {
    if (ready.taken.length > 0) {
      const { rows, poisoned } = await writeEntries(deps, ready);
      counts.rows += rows;
      counts.poisoned += poisoned;
      await acknowledgeEntries(ready.taken);
    }
    for (const shard of from) shard.done();
  }

  function claimIdleMs(): number | null {
    const nowMs = clock.monotonicMs();
    if (nowMs - claimedAtMs < claimEveryMs) return null;
    claimedAtMs = nowMs;
    return abandonedMs;
  }

  /** Returns how many entries were moved, and whether a shard has more. */
  return async function turn(portion: Portion): Promise<{ moved: number; more: boolean }> {
    await makePartitions();
    const idleMs = claimIdleMs();
    let taken: TakenEntry<StreamGroup>[] = [];
    let from: ShardReader[] = [];
    let [records, moved, more] = [0, 0, false];
    // One write at a time. During a write, the next shards are read and their rows prepared.
    let writing = Promise.resolve();
    // Each turn starts with another shard, so that none is always written last.
    turns += 1;
    try {
      for (let offset = 0; offset < shards.length && !isStopping(); offset += 1) {
        const shard = shards[(turns + offset) % shards.length];
        if (shard === undefined || !shard.isDue()) continue;
        const entries = await shard.take(portion, idleMs).catch(trouble);
        if (entries === undefined) continue;
        from.push(shard);
        for (const entry of entries) taken.push({ group: shard.group, entry });
        moved += entries.length;
        more ||= entries.length >= portion.entriesPerRead;
        records += entries.reduce((sum, { fields }) => sum + fields.length / 2, 0);
        if (records < portion.recordsPerWrite) continue;
        const ready = readyEntries(taken, clock.nowMs());
        await writing;
        writing = write(ready, from);
        // Avoids an unhandled rejection; the error is rethrown at the await.
        writing.catch(() => undefined);
        [taken, from, records] = [[], [], 0];
      }
      const ready = readyEntries(taken, clock.nowMs());
      await writing;
      await write(ready, from);
    } catch (error) {
      // The next turn must not start during a write.
      await writing.catch(() => undefined);
      throw error;
    }
    return { moved, more };
  };
}
