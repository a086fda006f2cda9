import type { Line, Parked, Place, Queue, Waiter } from './model.ts';
import { compareText } from './sorted-list.ts';

export const RANKS = [0, 1, 2] as const;

export function emptyLine(): Line {
  return {
    waiting: new Map(),
    bySlot: [],
    unpromised: [],
    queues: new Map(),
    places: new Map(),
    wake: [],
    touched: new Set(),
    lengths: new Map(),
    ahead: new Map(),
    limits: new Map(),
    virtual: [0, 0, 0],
    served: [new Map(), new Map(), new Map()],
  };
}

function tagOf({ queue, tag }: Waiter): number {
  return queue?.tag ?? tag;
}

/** By class, then by what the caller was served, then by arrival. */
export function compareWaiters(a: Waiter, b: Waiter): number {
  return a.rank - b.rank || tagOf(a) - tagOf(b) || a.seq - b.seq;
}

export function compareQueues(a: Queue, b: Queue): number {
  return a.rank - b.rank || a.tag - b.tag || (a.waiters[0]?.seq ?? 0) - (b.waiters[0]?.seq ?? 0);
}

export function comparePlaces(a: Place, b: Place): number {
  return a.atMs - b.atMs || compareText(a.key, b.key);
}

export function compareSlots(a: Waiter, b: Waiter): number {
  return a.slotMs - b.slotMs || a.seq - b.seq;
}

export function compareDeadlines(a: Waiter, b: Waiter): number {
  return a.deadlineMs - b.deadlineMs || a.seq - b.seq;
}

export function compareArrivals(a: Waiter, b: Waiter): number {
  return a.seq - b.seq;
}

export function compareSizes(a: Waiter, b: Waiter): number {
  return a.size - b.size || a.seq - b.seq;
}

export function compareCosts(a: Parked, b: Parked): number {
  return a.cost - b.cost || compareText(a.queue.key, b.queue.key);
}
