import { entryIn } from '../../kit/entry-in.ts';

/**
 * The requests of this process that hold a reservation at hard limits. A reservation is the most that a request can use, so most of it comes
 * back when the request ends: one that finds a limit reserved to its end waits for that instead of being refused for the day.
 */
export interface HardHolds {
  /** Replaces what the request held. */
  hold(requestId: string, policyIds: readonly string[]): void;
  release(requestId: string): void;
  /** The next of those who wait has its turn too: what came back may be enough for several. */
  passOn(policyId: string): void;
  /** Null when no request of this process holds the limit. */
  awaitRelease(policyId: string): AwaitedRelease | null;
}

export interface AwaitedRelease {
  readonly released: Promise<void>;
  cancel(): void;
}

export function createHardHolds(): HardHolds {
  const held = new Map<string, readonly string[]>();
  const holders = new Map<string, number>();
  /** By limit, in the order of their arrival. */
  const waiting = new Map<string, Set<() => void>>();

  function count(policyId: string, change: 1 | -1): void {
    const after = (holders.get(policyId) ?? 0) + change;
    if (after > 0) holders.set(policyId, after);
    else holders.delete(policyId);
  }

  function passOn(policyId: string): void {
    const queue = waiting.get(policyId);
    for (const wake of queue ?? []) {
      wake();
      return;
    }
  }

  function release(requestId: string): void {
    const policyIds = held.get(requestId) ?? [];
    held.delete(requestId);
    for (const policyId of policyIds) {
      count(policyId, -1);
      passOn(policyId);
    }
  }

  return {
    hold(requestId, policyIds) {
      release(requestId);
      if (policyIds.length === 0) return;
      held.set(requestId, policyIds);
      for (const policyId of policyIds) count(policyId, 1);
    },
    release,
    passOn,
    awaitRelease(policyId) {
      if (!holders.has(policyId)) return null;
      const queue = entryIn(waiting, policyId, () => new Set<() => void>());
      const { promise, resolve } = Promise.withResolvers<void>();
      const leave = () => {
        queue.delete(wake);
        if (queue.size === 0 && waiting.get(policyId) === queue) waiting.delete(policyId);
      };
      const wake = () => {
        leave();
        resolve();
      };
      queue.add(wake);
      return { released: promise, cancel: wake };
    },
  };
}
