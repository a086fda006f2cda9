import type { Clock } from '../kit/clock.ts';
import type { StreamEntry } from './stream-entry.ts';
import type { StreamGroup } from './stream-group.ts';

const FAILURE_MS = 1_000;

/** Takes the entries of one shard, none twice and none past one that was taken and not written. */
export interface ShardReader {
  readonly group: StreamGroup;
  /** False for a while after Redis did not answer for this shard. */
  isDue(): boolean;
  /** At most one read's worth, and as many claimed from workers that are gone when `claimIdleMs` is given. */
  take(claimIdleMs: number | null): Promise<StreamEntry[]>;
  /** What was taken is written and acknowledged. */
  done(): void;
}

export function createShardReader(group: StreamGroup, clock: Clock): ShardReader {
  /** Entries may have been taken that are not written; they are read before anything new. */
  let holding = false;
  let recovering = false;
  let retryAtMs = 0;

  async function read(): Promise<StreamEntry[]> {
    const held = holding ? await group.readOwn() : [];
    recovering = held.length > 0;
    // Set before the call: a reply that does not arrive may have been a taking all the same.
    holding = true;
    return recovering ? held : group.readNew();
  }

  return {
    group,
    isDue: () => retryAtMs <= clock.monotonicMs(),
    async take(claimIdleMs) {
      try {
        const entries = await read();
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
