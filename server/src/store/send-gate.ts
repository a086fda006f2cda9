/**
 * Lets a bounded number of pieces of work be under way and holds the others back, in order. A server that works off everything
 * one connection has sent before it turns to the next would keep the others waiting behind a burst.
 */
export interface SendGate {
  /** Starts the work now or later; `refuse` is called instead when too many wait, or when the gate is cleared. */
  enter(start: () => void, refuse: () => void): void;
  /** To be called once for each start. */
  leave(): void;
  /** Refuses all that wait. */
  clear(): void;
}

export function createSendGate(options: { underWayMax: number; waitingMax: number }): SendGate {
  let waiting: { readonly start: () => void; readonly refuse: () => void }[] = [];
  let first = 0;
  let underWay = 0;
  return {
    enter(start, refuse) {
      if (underWay < options.underWayMax) {
        underWay += 1;
        start();
      } else if (waiting.length - first < options.waitingMax) waiting.push({ start, refuse });
      else refuse();
    },
    leave() {
      const next = waiting[first];
      if (next === undefined) {
        underWay -= 1;
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
