import { countWords, durationWords } from '@relay/contract/words';
import { storeBusy } from '../store-error.ts';

export interface ConnectionLineOptions {
  /** How many may hold a connection at the same time. */
  readonly places: number;
  /** Beyond this number, a caller is rejected immediately. */
  readonly waitersMax?: number;
  /** How long a caller waits at most. */
  readonly waitMsMax?: number;
  /**
   * How long everyone waits while no connection comes back: the server no longer answers, or its connections are stuck
   * behind one lock.
   */
  readonly stillMsMax: number;
}

/** Callers take turns at a pool's connections, first come, first served. */
export interface ConnectionLine {
  /** Resolves with the function that gives the place to the next caller. Rejects with `store_unavailable`. */
  enter(): Promise<() => void>;
}

interface Waiter {
  readonly admit: () => void;
  readonly reject: (why: string) => void;
}

const WAITERS_MAX = 2_000;
const WAIT_MS_MAX = 15_000;

/**
 * The driver's pool has one timeout for the wait for a free connection and for opening a new one. It must be short, so
 * that an unreachable server is noticed soon; a burst of writes then fails although every one of them would have its turn
 * within seconds. With this line in front, a caller of the pool always finds a free place, and who waits does so for as
 * long as the line moves.
 */
export function createConnectionLine(options: ConnectionLineOptions): ConnectionLine {
  const { places, waitersMax = WAITERS_MAX, waitMsMax = WAIT_MS_MAX, stillMsMax } = options;
  const waiters = new Set<Waiter>();
  let held = 0;
  let stillTimer: NodeJS.Timeout | undefined;

  function rejectAll(): void {
    const why = `no connection was returned for ${durationWords(stillMsMax)}`;
    for (const waiter of waiters) waiter.reject(why);
  }

  /** The line has moved, or has just begun. */
  function watch(): void {
    clearTimeout(stillTimer);
    stillTimer = waiters.size === 0 ? undefined : setTimeout(rejectAll, stillMsMax);
  }

  function leaveOnce(): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      held -= 1;
      const [next] = waiters;
      next?.admit();
      watch();
    };
  }

  function wait(): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        waiters.delete(waiter);
      };
      const waiter: Waiter = {
        admit() {
          end();
          held += 1;
          resolve(leaveOnce());
        },
        reject(why) {
          end();
          reject(storeBusy(why));
        },
      };
      const timer = setTimeout(
        () => waiter.reject(`no connection was free for ${durationWords(waitMsMax)}`),
        waitMsMax,
      );
      waiters.add(waiter);
      if (waiters.size === 1) watch();
    });
  }

  return {
    async enter() {
      if (held < places && waiters.size === 0) {
        held += 1;
        return leaveOnce();
      }
      if (waiters.size >= waitersMax)
        throw storeBusy(`too many callers are waiting for a connection (${countWords(waitersMax)})`);
      return wait();
    },
  };
}
