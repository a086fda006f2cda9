import { headers } from '@relay/contract';
import { RelayError } from '../../domain/relay-error.ts';

export type BoundedWork = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs a few at once and lets a few wait; whoever comes beyond that is told to come back. */
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
        message: 'Too many people are signing in at this moment. Try again in a second.',
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
      // The place goes to the next one as it is, so that nobody can slip in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
