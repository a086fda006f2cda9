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
  /** Unique per process: entries that a dead process had taken are claimed by the living. */
  readonly consumer: string;
  /** An entry that another worker has held for this long is taken over: that worker is gone. */
  readonly abandonedMs?: number;
  readonly claimEveryMs?: number;
  /** How long rows of the ledger are kept. */
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

/** How much is taken of a shard, and how much of all shards is written at once. */
interface Portion extends ReadPortion {
  readonly recordsPerWrite: number;
}
const STEADY: Portion = { entriesPerRead: 50, reads: 1, recordsPerWrite: 500 };
/** The more is written at once, the more of it meets in the same sums; and one shard may have nearly all of it. */
const BACKLOG: Portion = { entriesPerRead: 400, reads: 5, recordsPerWrite: 4_000 };

/**
 * Moves records from the usage streams of all shards into the ledger, a bounded number of each shard in turn. An entry is
 * acknowledged only after its rows are committed, and a row is inserted once by its request id, so a worker may
 * die at any moment and another may do its work again.
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

  /** An outage is said once, not every second for every shard. */
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
        // With little to do it waits too, so that what comes meanwhile is written together.
        if (!more && !stopping) await pause(idleMs);
      } catch (error) {
        trouble(error);
        // It may have been too much at once.
        portion = STEADY;
        if (!stopping) await pause(FAILURE_MS);
      }
    }
    // A consumer that has gone for good would stay in the list of its group for ever.
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

/** One turn reads every shard once and writes what it took. Throws when PostgreSQL cannot be written. */
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

  /** Answers how many entries were moved, and whether a shard had more of them than were read. */
  return async function turn(portion: Portion): Promise<{ moved: number; more: boolean }> {
    await makePartitions();
    const idleMs = claimIdleMs();
    let taken: TakenEntry<StreamGroup>[] = [];
    let from: ShardReader[] = [];
    let [records, moved, more] = [0, 0, false];
    // One write at a time; while it goes on, the shards after it are read and their rows made.
    let writing = Promise.resolve();
    // Every turn begins with another shard, so that none is always the last to be written.
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
        // Whoever awaits it is told; until then nobody does.
        writing.catch(() => undefined);
        [taken, from, records] = [[], [], 0];
      }
      const ready = readyEntries(taken, clock.nowMs());
      await writing;
      await write(ready, from);
    } catch (error) {
      // The next turn must not begin while this one still writes.
      await writing.catch(() => undefined);
      throw error;
    }
    return { moved, more };
  };
}
