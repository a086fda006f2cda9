import type { IdentityDeps } from './deps.ts';

const RUNNING_MAX = 100;

/** Runs work that no response waits for. Work beyond the bound is dropped, and failures are only logged. */
export type Background = (work: () => Promise<void>) => void;

export function createBackground({ log }: Pick<IdentityDeps, 'log'>): Background {
  let running = 0;
  return (work) => {
    if (running >= RUNNING_MAX) {
      log.warn({ running }, 'did not create a link: too many are being created');
      return;
    }
    running += 1;
    // After the response has been written, which the work must not delay.
    setImmediate(() => {
      work()
        .catch((error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error);
          log.warn({ reason }, 'could not create a link');
        })
        .finally(() => {
          running -= 1;
        });
    });
  };
}
