import { ensureLedgerPartitions, utcDayOf } from '../store/ledger-partitions.ts';
import type { Redis } from '../store/redis.ts';
import { prefixOfShard, SHARDS, usageStreamOf } from '../store/shards.ts';
import { createShardReader, type ShardReader } from './shard-reader.ts';
import { createStreamGroup, ENTRIES_PER_READ } from './stream-group.ts';
import { acknowledgeEntries, type TakenEntry, type WriteDeps, writeEntries } from './write-entries.ts';

export interface LedgerWorkerDeps extends WriteDeps {
  readonly redis: Redis;
  /** Unique per process: entries that a dead process had taken are claimed by the living. */
  readonly consumer: string;
  /** An entry that another worker has held for this long is taken over: that worker is gone. */
  readonly abandonedMs?: number;
  readonly claimEveryMs?: number;
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
const RECORDS_PER_WRITE = 500;
const PARTITION_DAYS_AHEAD = 7;
const DAY_MS = 86_400_000;

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
    while (!stopping) {
      try {
        const { moved, more } = await turn();
        if (troubled && shards.every((shard) => shard.isDue())) {
          troubled = false;
          deps.log.info({}, 'the ledger is written again');
        }
        idleMs = moved > 0 ? IDLE_MS_MIN : Math.min(IDLE_MS_MAX, idleMs * 1.5);
        // With little to do it waits too, so that what comes meanwhile is written together.
        if (!more && !stopping) await pause(idleMs);
      } catch (error) {
        trouble(error);
        if (!stopping) await pause(FAILURE_MS);
      }
    }
    // A consumer that has gone for good would stay in the list of its group for ever.
    await Promise.allSettled(shards.map(({ group }) => group.leave()));
  }

  const finished = run();
  return {
    running: () => !stopping,
    counts: () => ({ ...counts }),
    async stop() {
      stopping = true;
      wake?.();
      await finished;
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
  let partitionedDay = '';

  async function makePartitions(): Promise<void> {
    const today = utcDayOf(clock.nowMs());
    if (today === partitionedDay) return;
    await ensureLedgerPartitions(deps.db, today, utcDayOf(clock.nowMs() + PARTITION_DAYS_AHEAD * DAY_MS));
    partitionedDay = today;
  }

  async function write(taken: readonly TakenEntry[], from: readonly ShardReader[]): Promise<void> {
    if (taken.length > 0) {
      const { rows, poisoned } = await writeEntries(deps, taken);
      counts.rows += rows;
      counts.poisoned += poisoned;
      await acknowledgeEntries(taken);
    }
    for (const shard of from) shard.done();
  }

  function claimIdleMs(): number | null {
    const nowMs = clock.monotonicMs();
    if (nowMs - claimedAtMs < claimEveryMs) return null;
    claimedAtMs = nowMs;
    return abandonedMs;
  }

  /** Answers how many entries were moved, and whether a shard had more of them than are read at once. */
  return async function turn(): Promise<{ moved: number; more: boolean }> {
    await makePartitions();
    const idleMs = claimIdleMs();
    let taken: TakenEntry[] = [];
    let from: ShardReader[] = [];
    let [records, moved, more] = [0, 0, false];
    // Every turn begins with another shard, so that none is always the last to be written.
    turns += 1;
    for (let offset = 0; offset < shards.length && !isStopping(); offset += 1) {
      const shard = shards[(turns + offset) % shards.length];
      if (shard === undefined || !shard.isDue()) continue;
      const entries = await shard.take(idleMs).catch(trouble);
      if (entries === undefined) continue;
      from.push(shard);
      taken.push(...entries.map((entry) => ({ group: shard.group, entry })));
      moved += entries.length;
      more ||= entries.length >= ENTRIES_PER_READ;
      records += entries.reduce((sum, { fields }) => sum + fields.length / 2, 0);
      if (records < RECORDS_PER_WRITE) continue;
      await write(taken, from);
      [taken, from, records] = [[], [], 0];
    }
    await write(taken, from);
    return { moved, more };
  };
}
