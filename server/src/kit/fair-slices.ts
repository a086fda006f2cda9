import type { Clock } from './clock.ts';
import { entryIn } from './entry-in.ts';
import type { Steps } from './slices.ts';

/**
 * Long computations of several owners on one event loop. Each turn of the loop runs one slice, whatever the number of computations;
 * owners take turns, and an owner's own computations follow each other. What fits one slice runs now unless others wait.
 */
export interface FairSlices {
  run<T>(owner: string, steps: Steps<T>): T | Promise<T>;
}

/** One computation: runs a slice, and returns whether it is over. */
type Job = () => boolean;

export function createFairSlices(clock: Pick<Clock, 'monotonicMs'>, sliceMs: number): FairSlices {
  /** In the order of their turns. */
  const lines = new Map<string, Job[]>();

  function turn(): void {
    for (const [owner, jobs] of lines) {
      lines.delete(owner);
      const isOver = jobs[0]?.() ?? true;
      if (isOver) jobs.shift();
      if (jobs.length > 0) lines.set(owner, jobs);
      break;
    }
    if (lines.size > 0) setImmediate(turn);
  }

  function wait<T>(owner: string, steps: Steps<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (lines.size === 0) setImmediate(turn);
      entryIn(lines, owner, () => []).push(() => {
        try {
          const result = slice(steps);
          if (result.done === true) resolve(result.value);
          return result.done === true;
        } catch (error) {
          reject(error);
          return true;
        }
      });
    });
  }

  function slice<T>(steps: Steps<T>): IteratorResult<undefined, T> {
    const endMs = clock.monotonicMs() + sliceMs;
    for (;;) {
      const step = steps.next();
      if (step.done === true || clock.monotonicMs() >= endMs) return step;
    }
  }

  return {
    run(owner, steps) {
      if (lines.size > 0) return wait(owner, steps);
      const first = slice(steps);
      return first.done === true ? first.value : wait(owner, steps);
    },
  };
}
