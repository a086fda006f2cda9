export interface DeliveryLoop {
  /** Schedules a delivery when there is work and none is scheduled or running. */
  schedule(): void;
  /** Delivers now, or joins the running delivery. Never rejects. */
  run(): Promise<void>;
  /** Schedules nothing more. Resolves when the running delivery is over. */
  stop(): Promise<void>;
}

/** Runs one delivery at a time. `deliver` returns the delay before the next one and must not reject. */
export function createDeliveryLoop(deps: {
  readonly firstDelayMs: number;
  readonly hasWork: () => boolean;
  readonly deliver: () => Promise<number>;
}): DeliveryLoop {
  let delayMs = deps.firstDelayMs;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let isStopped = false;

  function schedule(): void {
    if (timer !== null || running !== null || isStopped || !deps.hasWork()) return;
    timer = setTimeout(() => {
      timer = null;
      void run();
    }, delayMs);
    timer.unref();
  }

  function run(): Promise<void> {
    running ??= deps.deliver().then((nextMs) => {
      running = null;
      delayMs = nextMs;
      schedule();
    });
    return running;
  }

  return {
    schedule,
    run,
    async stop() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await running;
    },
  };
}
