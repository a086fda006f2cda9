import type { Clock } from '../kit/clock.ts';

/**
 * Runs a bounded number of tasks and queues the others in order. A server that handles everything one connection has sent
 * before it turns to the next would otherwise let a burst delay all others.
 */
export interface SendGate {
  /** Starts the task now or later. Calls `refuse` instead when the queue is full, it waited too long, or the gate is cleared. */
  enter(start: () => void, refuse: () => void): void;
  /** Call once for each start. */
  leave(): void;
  /** Refuses all queued tasks. */
  clear(): void;
}

export interface SendGateOptions {
  readonly runningMax: number;
  readonly waitingMax: number;
  /** Under a load that never ends, tasks that waited longer than this give way to those that can still be served in time. */
  readonly waiting?: { readonly clock: Clock; readonly msMax: number };
}

interface Task {
  readonly start: () => void;
  readonly refuse: () => void;
  readonly enteredMs: number;
}

export function createSendGate({ runningMax, waitingMax, waiting: bound }: SendGateOptions): SendGate {
  let waiting: Task[] = [];
  let first = 0;
  let running = 0;

  function takeFirst(): Task | undefined {
    const task = waiting[first];
    if (task === undefined) return undefined;
    first += 1;
    if (first * 2 > waiting.length) {
      waiting = waiting.slice(first);
      first = 0;
    }
    return task;
  }

  /** Refuses what waited too long on the way. */
  function takeTimely(): Task | undefined {
    let task = takeFirst();
    while (
      bound !== undefined &&
      task !== undefined &&
      bound.clock.monotonicMs() - task.enteredMs > bound.msMax
    ) {
      task.refuse();
      task = takeFirst();
    }
    return task;
  }

  return {
    enter(start, refuse) {
      if (running < runningMax) {
        running += 1;
        start();
      } else if (waiting.length - first < waitingMax)
        waiting.push({ start, refuse, enteredMs: bound?.clock.monotonicMs() ?? 0 });
      else refuse();
    },
    leave() {
      const next = takeTimely();
      if (next === undefined) running -= 1;
      else next.start();
    },
    clear() {
      const refused = waiting.slice(first);
      waiting = [];
      first = 0;
      for (const { refuse } of refused) refuse();
    },
  };
}
