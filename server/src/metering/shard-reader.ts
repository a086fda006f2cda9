import type { Clock } from '../kit/clock.ts';
import type { StreamEntry } from './stream-entry.ts';
import type { StreamGroup } from './stream-group.ts';

const FAILURE_MS = 1_000;

/** How much one take reads. Several small reads: a large one might exceed the deadline of a Redis command. */
export interface ReadPortion {
  readonly entriesPerRead: number;
  readonly reads: number;
}

/**
 * Reads the entries of one shard. After a failed write it returns the unwritten entries again before any new
 * ones.
 */
export interface ShardReader {
  readonly group: StreamGroup;
  /** False for 1 second after Redis failed for this shard. */
  isDue(): boolean;
  /** Reads at most a portion. With `claimIdleMs` it also claims entries of dead workers. */
  take(portion: ReadPortion, claimIdleMs: number | null): Promise<StreamEntry[]>;
  /** The taken entries are written and acknowledged. */
  done(): void;
}

export function createShardReader(group: StreamGroup, clock: Clock): ShardReader {
  /** This consumer may hold unwritten entries, which are read before new ones. */
  let holding = false;
  let recovering = false;
  let retryAtMs = 0;

  async function read({ entriesPerRead, reads }: ReadPortion): Promise<StreamEntry[]> {
    const held = holding ? await group.readOwn(entriesPerRead) : [];
    recovering = held.length > 0;
    if (recovering) return held;
    // Set before the call: Redis may have assigned entries although the reply is lost.
    holding = true;
    const entries: StreamEntry[] = [];
    for (let count = 1; count <= reads; count += 1) {
      entries.push(...(await group.readNew(entriesPerRead)));
      if (entries.length < count * entriesPerRead) break;
    }
    return entries;
  }

  return {
    group,
    isDue: () => retryAtMs <= clock.monotonicMs(),
    async take(portion, claimIdleMs) {
      try {
        const entries = await read(portion);
        if (claimIdleMs !== null) entries.push(...(await group.claimAbandoned(claimIdleMs)));
        return entries;
      } catch (error) {
        retryAtMs = clock.monotonicMs() + FAILURE_MS;
        throw error;
      }
    },
    done() {
      // There may be more unwritten entries than one read returns, so the next take reads them again.
      holding = recovering;
    },
  };
}
