import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/** Work that may pause wherever it yields, so that a long computation does not block the event loop. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** A step for each item would cost more than most items do. */
const ITEMS_PER_STEP = 64;

/** Takes the items one after the other, many in each step. */
export function* stepsOver<T>(items: Iterable<T>, take: (item: T) => void): Steps<void> {
  let count = 0;
  for (const item of items) {
    take(item);
    count += 1;
    if (count % ITEMS_PER_STEP === 0) yield;
  }
}

/** Does all of the work now. */
export function finish<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** Does the work in slices of about `sliceMs`. Between two slices the event loop turns; what fits one slice does not wait for it. */
export async function inSlices<T>(
  steps: Steps<T>,
  clock: Pick<Clock, 'monotonicMs'>,
  sliceMs: number,
): Promise<T> {
  let endMs = clock.monotonicMs() + sliceMs;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    if (clock.monotonicMs() < endMs) continue;
    await nextTurn();
    endMs = clock.monotonicMs() + sliceMs;
  }
}
