/** Bounds how many callers work concurrently, and how many wait for a turn. */
export interface Turns {
  /** False when no turn comes within the time, or too many already wait. A caller that gets true gives the turn back. */
  take(withinMs: number): boolean | Promise<boolean>;
  giveBack(): void;
  /** Callers that have a turn or wait for one. */
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
      // The turn passes directly to the caller that has waited longest.
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
