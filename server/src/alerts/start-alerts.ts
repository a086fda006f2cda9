import { createThrottle } from '../kit/throttle.ts';
import { createDeliverAlerts, type DeliverDeps } from './deliver-alerts.ts';
import { type EvaluateDeps, evaluateNext } from './evaluate-alerts.ts';

const EVERY_MS = 1_000;
const FAILURE_MS = 5_000;

export interface AlertsDeps extends EvaluateDeps, DeliverDeps {}

export interface RunningAlerts {
  stop(): Promise<void>;
}

/** Evaluates and delivers alerts in every worker; rows that one has locked are skipped by the others. */
export function startAlerts(deps: AlertsDeps): RunningAlerts {
  const delivering = createDeliverAlerts(deps);
  const loops = [
    repeat(deps, async () => {
      const written = await evaluateNext(deps);
      if (written !== null && written > 0) loops[1]?.wake();
      return written !== null;
    }),
    repeat(deps, async (pause) => {
      await delivering.start();
      const busy = delivering.busy();
      if (busy.length > 0) await Promise.race([...busy, pause(EVERY_MS)]);
      return busy.length > 0;
    }),
  ] as const;
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      await Promise.all(delivering.busy());
    },
  };
}

type Pause = (delayMs: number) => Promise<void>;

/** Runs turns one after the other, with a pause after a turn that says there is no more, and a longer one after a failure. */
function repeat({ clock, log }: AlertsDeps, turn: (pause: Pause) => Promise<boolean>) {
  const mayLog = createThrottle(clock);
  let isStopping = false;
  let wake: () => void = () => undefined;

  function pause(delayMs: number): Promise<void> {
    if (isStopping) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, delayMs);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
    return promise;
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      try {
        const hasMore = await turn(pause);
        // Ends the timer of a pause that the turn did not wait for.
        wake();
        if (!hasMore) await pause(EVERY_MS);
      } catch (error) {
        if (mayLog()) log.warn({ err: error }, 'could not evaluate or send alerts; will retry');
        await pause(FAILURE_MS);
      }
    }
  }

  const finished = run();
  return {
    wake: () => wake(),
    async stop() {
      isStopping = true;
      wake();
      await finished;
    },
  };
}
