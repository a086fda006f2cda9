/** Notifications can arrive in bursts; the polls they cause keep this distance. */
const HINT_DELAY_MS = 20;

export interface PollLoop {
  start(): void;
  /** Polls sooner. Never missed: when a poll is running, another follows it. */
  hint(): void;
  isStopped(): boolean;
  /** Resolves when no poll is running. */
  stop(): Promise<void>;
}

/** Polls at an interval, one poll at a time. `poll` must not reject. */
export function createPollLoop(poll: () => Promise<void>, intervalMs: number): PollLoop {
  let stopped = true;
  let timer: NodeJS.Timeout | undefined;
  let polling: Promise<void> | undefined;

  function schedule(delayMs: number): void {
    if (stopped) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      polling = poll().finally(() => {
        polling = undefined;
        schedule(intervalMs);
      });
    }, delayMs);
  }

  return {
    start() {
      stopped = false;
      schedule(0);
    },
    hint() {
      if (stopped) return;
      // A running poll may have read the clock before this change.
      if (polling === undefined) schedule(HINT_DELAY_MS);
      else void polling.then(() => schedule(HINT_DELAY_MS));
    },
    isStopped: () => stopped,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await polling;
    },
  };
}
