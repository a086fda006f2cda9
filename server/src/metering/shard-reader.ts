import type { Clock } from '../kit/clock.ts';
import { recordsMaxOf, type StreamEntry } from './stream-entry.ts';
import type { StreamGroup } from './stream-group.ts';

const FAILURE_MS = 1_000;
const CLOSED_RETRY_MS = 200;
/** Unknown before the first read, and after a failed one, whose reply may have been too large for its deadline: then one entry is read. */
const UNKNOWN = Number.POSITIVE_INFINITY;

/** How much one take reads. Several small reads: a large one might exceed the deadline of a Redis command. */
export interface ReadPortion {
  readonly recordsPerRead: number;
  readonly reads: number;
}

export interface Taken {
  readonly entries: StreamEntry[];
  /** The shard probably has more. */
  readonly more: boolean;
}

/**
 * Reads the entries of one shard. It may be asked for new entries while the ones before are still being written. After a failed
 * write it returns the unwritten entries again before any new ones.
 */
export interface ShardReader {
  readonly group: StreamGroup;
  /** False for 1 second after Redis failed for this shard, and for a moment while the shard is closed. */
  isDue(): boolean;
  /** Holds entries that it has to read again. Take these only when nothing is being written, because a write removes them. */
  isHolding(): boolean;
  /** The last take left more in the shard. */
  hasMore(): boolean;
  /** Reads at most a portion. With `claimIdleMs` it also claims entries of dead workers. */
  take(portion: ReadPortion, claimIdleMs: number | null): Promise<Taken>;
  /** Taken entries were not written or not acknowledged. */
  failed(): void;
}

interface ShardReaderDeps {
  readonly group: StreamGroup;
  readonly clock: Clock;
  /** Whether windows of the shard are being started from the ledger. A row that arrives meanwhile is either missed or counted twice. */
  readonly isClosed: () => Promise<boolean>;
}

export function createShardReader({ group, clock, isClosed }: ShardReaderDeps): ShardReader {
  /** This consumer may hold entries that failed, which are read before new ones. */
  let holding = false;
  let hasMore = false;
  let retryAtMs = 0;
  /** Redis counts entries, and an entry has any number of records: the next read has about as many as the last one. */
  let recordsPerEntry = UNKNOWN;

  async function read({ recordsPerRead, reads }: ReadPortion): Promise<Taken> {
    let entriesMax = entriesFor(recordsPerRead);
    const held = holding ? learn(await group.readOwn(entriesMax)) : [];
    // There may be more of them than one read returns, so the next take asks again.
    if (held.length > 0) return { entries: held, more: held.length >= entriesMax };
    holding = false;
    const entries: StreamEntry[] = [];
    let more = true;
    for (let count = 1; more && count <= reads; count += 1) {
      entriesMax = entriesFor(recordsPerRead);
      const found = learn(await group.readNew(entriesMax));
      entries.push(...found);
      more = found.length >= entriesMax;
    }
    return { entries, more };
  }

  function entriesFor(records: number): number {
    return Math.max(1, Math.floor(records / recordsPerEntry));
  }

  function learn(entries: StreamEntry[]): StreamEntry[] {
    const records = entries.reduce((sum, entry) => sum + recordsMaxOf(entry), 0);
    if (entries.length > 0) recordsPerEntry = Math.max(1, records / entries.length);
    return entries;
  }

  function failed(): void {
    holding = true;
    hasMore = false;
  }

  return {
    group,
    isHolding: () => holding,
    hasMore: () => hasMore,
    isDue: () => retryAtMs <= clock.monotonicMs(),
    async take(portion, claimIdleMs) {
      try {
        // Before the read: what was read is written, since Redis may have lost it.
        if (await isClosed()) {
          retryAtMs = clock.monotonicMs() + CLOSED_RETRY_MS;
          return { entries: [], more: false };
        }
        const { entries, more } = await read(portion);
        const entriesMax = entriesFor(portion.recordsPerRead);
        if (claimIdleMs !== null) entries.push(...(await group.claimAbandoned(claimIdleMs, entriesMax)));
        hasMore = more;
        return { entries, more };
      } catch (error) {
        // Redis may have assigned entries although the reply is lost.
        failed();
        retryAtMs = clock.monotonicMs() + FAILURE_MS;
        recordsPerEntry = UNKNOWN;
        throw error;
      }
    },
    failed,
  };
}
