import type { Clock } from '../kit/clock.ts';
import type { Redis } from '../store/redis/redis.ts';
import { usageStreamOf } from '../store/redis/shards.ts';
import { isClosedShard } from './closed-shards.ts';
import { createDaysAhead } from './days-ahead.ts';
import { createShardReader, type ReadPortion, type ShardReader } from './shard-reader.ts';
import { recordsMaxOf, type StreamEntry } from './stream-entry.ts';
import { createStreamGroup, type StreamGroup } from './stream-group.ts';
import {
  acknowledgeEntries,
  type ReadyEntries,
  readyEntries,
  type TakenEntry,
  type WriteDeps,
  writeEntries,
} from './write-entries.ts';

const ABANDONED_MS = 30_000;
const CLAIM_EVERY_MS = 10_000;

/** Shards without a backlog are read concurrently. */
const STEADY: ReadPortion = { recordsPerRead: 50, reads: 1 };
const STEADY_SHARDS_AT_ONCE = 16;
const STEADY_RECORDS_PER_WRITE = 500;
/** Larger writes update each rollup less often. One shard may hold nearly the whole backlog. */
const BACKLOG_RECORDS_PER_READ = 400;
const BACKLOG_RECORDS_PER_WRITE = 8_000;
/** A shard is read the less, the more shards have a backlog, so that each of them has its turn soon. */
const BACKLOG_READS = { perTurn: 40, perShardMin: 5, perShardMax: 20 };

interface ShardReaders {
  /** Readers of the shards in use, and of those that hold entries. */
  due(): Promise<ShardReader[]>;
  /** Of all shards that were read so far. */
  all(): ShardReader[];
}

export function createShardReaders(deps: {
  readonly redis: Redis;
  readonly consumer: string;
  readonly clock: Clock;
}): ShardReaders {
  const { redis, consumer, clock } = deps;
  const readers = new Map<string, ShardReader>();
  return {
    all: () => [...readers.values()],
    async due() {
      const active = new Set(await redis.shards.list());
      for (const prefix of active) {
        if (readers.has(prefix)) continue;
        const group = createStreamGroup(redis, usageStreamOf(prefix), consumer);
        readers.set(
          prefix,
          createShardReader({ group, clock, isClosed: () => isClosedShard(redis, prefix) }),
        );
      }
      const isRead = ([prefix, reader]: [string, ShardReader]) =>
        reader.isDue() && (active.has(prefix) || reader.isHolding());
      return [...readers].filter(isRead).map(([, reader]) => reader);
    },
  };
}

export interface LedgerTurnDeps extends WriteDeps {
  readonly abandonedMs?: number;
  readonly claimEveryMs?: number;
}

interface Turning {
  readonly shards: ShardReaders;
  readonly counts: { rows: number; poisoned: number };
  readonly trouble: (error: unknown) => void;
  readonly isStopping: () => boolean;
}

export interface LedgerTurn {
  /**
   * Reads every shard in use once and writes the entries. Returns how many entries it took, and whether a shard has more; then the
   * last write may still run. Throws when PostgreSQL cannot be written, also by the turn before.
   */
  turn(): Promise<{ moved: number; more: boolean }>;
  /** Resolves when no write is running. */
  finish(): Promise<void>;
}

export function createLedgerTurn(
  deps: LedgerTurnDeps,
  { shards, counts, trouble, isStopping }: Turning,
): LedgerTurn {
  const { clock, abandonedMs = ABANDONED_MS, claimEveryMs = CLAIM_EVERY_MS } = deps;
  let turns = 0;
  let claimedAtMs = clock.monotonicMs() - claimEveryMs;
  const makePartitions = createDaysAhead(deps);
  const writes = createWrites(deps, counts);

  function claimIdleMs(): number | null {
    const nowMs = clock.monotonicMs();
    if (nowMs - claimedAtMs < claimEveryMs) return null;
    claimedAtMs = nowMs;
    return abandonedMs;
  }

  async function turn(): Promise<{ moved: number; more: boolean }> {
    await makePartitions();
    const idleMs = claimIdleMs();
    const due = await shards.due();
    const isRecovering = due.some((shard) => shard.isHolding());
    if (isRecovering) await writes.finish();
    // Each turn starts with another shard, so that none is always written last.
    turns += 1;
    const inTurn = due.map((_, offset) => due[(turns + offset) % due.length] as ShardReader);
    let [moved, more] = [0, false];
    for (const { together, portion, recordsPerWrite } of groupsOf(inTurn)) {
      if (isStopping()) break;
      const took = await Promise.all(together.map((shard) => shard.take(portion, idleMs).catch(trouble)));
      for (const [index, taken] of took.entries()) {
        const shard = together[index];
        if (shard === undefined || taken === undefined) continue;
        writes.add(shard, taken.entries);
        moved += taken.entries.length;
        more ||= taken.more;
      }
      if (writes.waiting() >= recordsPerWrite) await writes.start();
    }
    await writes.start();
    // With a backlog, the next turn reads during the write. After a failure, a turn counts as done when its write is.
    if (!more || isRecovering) await writes.finish();
    return { moved, more };
  }

  return {
    async turn() {
      try {
        return await turn();
      } catch (error) {
        await writes.abandon();
        throw error;
      }
    },
    finish: writes.finish,
  };
}

/** Shards that are read at the same time, and how much of each. */
interface ShardGroup {
  readonly together: readonly ShardReader[];
  readonly portion: ReadPortion;
  readonly recordsPerWrite: number;
}

function groupsOf(due: readonly ShardReader[]): ShardGroup[] {
  const full = due.filter((shard) => shard.hasMore());
  const others = due.filter((shard) => !shard.hasMore());
  const { perTurn, perShardMin, perShardMax } = BACKLOG_READS;
  const reads = Math.max(perShardMin, Math.min(perShardMax, Math.floor(perTurn / full.length)));
  const portion = { recordsPerRead: BACKLOG_RECORDS_PER_READ, reads };
  const recordsPerWrite = full.length > 0 ? BACKLOG_RECORDS_PER_WRITE : STEADY_RECORDS_PER_WRITE;
  const groups: ShardGroup[] = [];
  for (let from = 0; from < others.length; from += STEADY_SHARDS_AT_ONCE) {
    const together = others.slice(from, from + STEADY_SHARDS_AT_ONCE);
    groups.push({ together, portion: STEADY, recordsPerWrite });
  }
  for (const shard of full) groups.push({ together: [shard], portion, recordsPerWrite });
  return groups;
}

/** One write at a time. During a write, the next shards are read and their rows prepared. */
function createWrites(deps: WriteDeps, counts: Turning['counts']) {
  let load = createLoad();
  let writing = Promise.resolve();

  async function write({ ready, from }: Load): Promise<void> {
    try {
      if (ready.taken.length === 0) return;
      const { rows, poisoned } = await writeEntries(deps, ready);
      counts.rows += rows;
      counts.poisoned += poisoned;
      await acknowledgeEntries(ready.taken);
    } catch (error) {
      for (const shard of from) shard.failed();
      throw error;
    }
  }

  return {
    add: (shard: ShardReader, entries: readonly StreamEntry[]) => load.add(shard, entries),
    /** Records that no write has taken yet. */
    waiting: () => load.records(),
    /** Resolves when the write has begun, which is after the write before it. */
    async start(): Promise<void> {
      const ready = load.ready(deps.clock.nowMs(), deps.owner);
      await writing;
      load = createLoad();
      writing = write(ready);
      // Avoids an unhandled rejection; the error is rethrown at the await.
      writing.catch(() => undefined);
    },
    finish: () => writing,
    /** Waits for the running write, and has everything read again that was not written. */
    async abandon(): Promise<void> {
      await writing.catch(() => undefined);
      writing = Promise.resolve();
      load.failed();
      load = createLoad();
    },
  };
}

/** What one write takes. */
interface Load {
  readonly ready: ReadyEntries<StreamGroup>;
  readonly from: readonly ShardReader[];
}

function createLoad() {
  const taken: TakenEntry<StreamGroup>[] = [];
  const from: ShardReader[] = [];
  let records = 0;
  return {
    add(shard: ShardReader, entries: readonly StreamEntry[]): void {
      from.push(shard);
      for (const entry of entries) {
        taken.push({ group: shard.group, entry });
        records += recordsMaxOf(entry);
      }
    },
    records: () => records,
    ready: (nowMs: number, owner: WriteDeps['owner']): Load => ({
      ready: readyEntries(taken, nowMs, owner),
      from,
    }),
    failed(): void {
      for (const shard of from) shard.failed();
    },
  };
}
