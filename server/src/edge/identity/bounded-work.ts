import { headers } from '@relay/contract';
import { RelayError } from '../../domain/relay-error.ts';

export type BoundedWork = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs a bounded number of tasks concurrently and queues a bounded number; rejects the rest. */
export function createBoundedWork(bounds: {
  readonly atOnceMax: number;
  readonly waitingMax: number;
}): BoundedWork {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function takePlace(): Promise<void> {
    if (running < bounds.atOnceMax) {
      running += 1;
      return;
    }
    if (waiting.length >= bounds.waitingMax) {
      throw new RelayError('too_many_attempts', {
        message: 'Too many sign-ins are in progress. Try again in a second.',
        retry: true,
        headers: { [headers.retryAfter]: '1' },
      });
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  return async (work) => {
    await takePlace();
    try {
      return await work();
    } finally {
      // The slot passes directly to the next task, so that no newcomer can take it.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
