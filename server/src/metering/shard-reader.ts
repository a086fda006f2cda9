import type { Clock } from '../kit/clock.ts';
import type { StreamEntry } from './stream-entry.ts';
import type { StreamGroup } from './stream-group.ts';

const FAILURE_MS = 1_000;

/** How much is taken at once. Several small reads: one large one could take longer than Redis is waited for. */
export interface ReadPortion {
  readonly entriesPerRead: number;
  readonly reads: number;
}

/** Takes the entries of one shard, none twice and none past one that was taken and not written. */
export interface ShardReader {
  readonly group: StreamGroup;
  /** False for a while after Redis did not answer for this shard. */
  isDue(): boolean;
  /** At most so many reads, and some that are claimed from workers that are gone when `claimIdleMs` is given. */
  take(portion: ReadPortion, claimIdleMs: number | null): Promise<StreamEntry[]>;
  /** What was taken is written and acknowledged. */
  done(): void;
}

export function createShardReader(group: StreamGroup, clock: Clock): ShardReader {
  /** Entries may have been taken that are not written; they are read before anything new. */
  let holding = false;
  let recovering = false;
  let retryAtMs = 0;

  async function read({ entriesPerRead, reads }: ReadPortion): Promise<StreamEntry[]> {
    const held = holding ? await group.readOwn(entriesPerRead) : [];
    recovering = held.length > 0;
    if (recovering) return held;
    // Set before the call: a reply that does not arrive may have been a taking all the same.
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
      // There may be more of them than one read gives.
      holding = recovering;
    },
  };
}
