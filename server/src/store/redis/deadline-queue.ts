import type { Clock } from '../../kit/clock.ts';

export interface Deadline {
  /** Set when the work ended in time; the queue then drops it without calling `expire`. */
  done: boolean;
  readonly atMs: number;
  readonly expire: () => void;
}

/** A timer this late means that the process was stalled. */
const STANDSTILL_MS = 20;
/** A process that stalls repeatedly gets more time at most this often in a row. */
const GRANTS_MAX = 4;

/**
 * One timer for all work that gets the same time. Deadlines expire in the order they were added, so only the first needs a
 * timer. Finished work stays in the queue until its deadline, so the queue holds what began within one such time.
 */
export interface DeadlineQueue {
  add(expire: () => void): Deadline;
  clear(): void;
}

export function createDeadlineQueue(options: { clock: Clock; timeoutMs: number }): DeadlineQueue {
  const { clock, timeoutMs } = options;
  const queue = createQueue();
  let timer: NodeJS.Timeout | undefined;
  let expiring: NodeJS.Immediate | undefined;
  let grantedMs = Number.NEGATIVE_INFINITY;
  let grants = 0;

  /**
   * After a stall, timers fire before the replies that arrived meanwhile are read. Those replies are not late, so all
   * deadlines get the lost time again, a bounded number of times.
   */
  function stoodStill(nowMs: number): boolean {
    const lateMs = nowMs - Math.max(queue.first()?.atMs ?? nowMs, grantedMs);
    grants = lateMs > STANDSTILL_MS && grants < GRANTS_MAX ? grants + 1 : 0;
    if (grants === 0) return false;
    grantedMs = nowMs + Math.min(lateMs, timeoutMs);
    timer = setTimeout(sweep, grantedMs - nowMs);
    timer.unref();
    return true;
  }

  /** Timers fire before sockets are read: what has arrived by now is read before anything expires, however busy the process is. */
  function sweep(): void {
    timer = undefined;
    const nowMs = clock.monotonicMs();
    if (!stoodStill(nowMs)) expiring = setImmediate(() => expire(nowMs));
  }

  function expire(nowMs: number): void {
    expiring = undefined;
    for (let due = queue.takeDue(nowMs); due !== undefined; due = queue.takeDue(nowMs)) {
      if (due.done) continue;
      due.done = true;
      due.expire();
    }
    arm();
  }

  function arm(): void {
    const head = queue.first();
    if (head === undefined || timer !== undefined || expiring !== undefined) return;
    timer = setTimeout(sweep, Math.max(1, Math.ceil(head.atMs - clock.monotonicMs())));
    // The socket keeps the process alive while a reply is awaited.
    timer.unref();
  }

  return {
    add(expire) {
      const deadline: Deadline = { done: false, atMs: clock.monotonicMs() + timeoutMs, expire };
      queue.push(deadline);
      arm();
      return deadline;
    },
    clear() {
      clearTimeout(timer);
      clearImmediate(expiring);
      timer = undefined;
      expiring = undefined;
      queue.clear();
    },
  };
}

/** What is taken from the front is forgotten in bulk. */
function createQueue() {
  let queue: Deadline[] = [];
  let first = 0;
  return {
    first: () => queue[first],
    push: (deadline: Deadline) => queue.push(deadline),
    /** The first one, if it is done or due. */
    takeDue(nowMs: number): Deadline | undefined {
      const head = queue[first];
      if (head === undefined || !(head.done || head.atMs <= nowMs)) return undefined;
      first += 1;
      if (first * 2 > queue.length) {
        queue = queue.slice(first);
        first = 0;
      }
      return head;
    },
    clear() {
      queue = [];
      first = 0;
    },
  };
}
