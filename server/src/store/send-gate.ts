/**
 * Runs a bounded number of tasks and queues the others in order. A server that handles everything one connection has sent
 * before it turns to the next would otherwise let a burst delay all others.
 */
export interface SendGate {
  /** Starts the task now or later. Calls `refuse` instead when the queue is full or the gate is cleared. */
  enter(start: () => void, refuse: () => void): void;
  /** Call once for each start. */
  leave(): void;
  /** Refuses all queued tasks. */
  clear(): void;
}

export function createSendGate(options: { runningMax: number; waitingMax: number }): SendGate {
  let waiting: { readonly start: () => void; readonly refuse: () => void }[] = [];
  let first = 0;
  let running = 0;
  return {
    enter(start, refuse) {
      if (running < options.runningMax) {
        running += 1;
        start();
      } else if (waiting.length - first < options.waitingMax) waiting.push({ start, refuse });
      else refuse();
    },
    leave() {
      const next = waiting[first];
      if (next === undefined) {
        running -= 1;
        return;
      }
      first += 1;
      if (first * 2 > waiting.length) {
        waiting = waiting.slice(first);
        first = 0;
      }
      next.start();
    },
    clear() {
      const refused = waiting.slice(first);
      waiting = [];
      first = 0;
      for (const { refuse } of refused) refuse();
    },
  };
}
