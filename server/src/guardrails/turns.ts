/** How many may do something at once, and how many may wait for it: a bound on both. */
export interface Turns {
  /** Answers false when there is no turn within the time, or too many wait already. Whoever got true gives it back. */
  take(withinMs: number): boolean | Promise<boolean>;
  giveBack(): void;
  /** Those who have a turn or wait for one. */
  size(): number;
}

export function createTurns(atOnceMax: number, waitingMax: number): Turns {
  const waiting = new Set<() => void>();
  let taken = 0;

  function wait(withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => {
          waiting.delete(next);
          resolve(false);
        },
        Math.max(1, Math.ceil(withinMs)),
      );
      function next(): void {
        clearTimeout(timer);
        resolve(true);
      }
      waiting.add(next);
    });
  }

  return {
    take(withinMs) {
      if (taken < atOnceMax) {
        taken += 1;
        return true;
      }
      return waiting.size >= waitingMax ? false : wait(withinMs);
    },
    giveBack() {
      // The turn passes to whoever waited longest, without being free in between.
      for (const next of waiting) {
        waiting.delete(next);
        next();
        return;
      }
      taken -= 1;
    },
    size: () => taken + waiting.size,
  };
}
