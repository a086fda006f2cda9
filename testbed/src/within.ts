import { availableParallelism } from 'node:os';
import { stolenMs } from './machine.ts';
import { mostTaken, type Sample, type Taken, takenIn, waitedMsByThread } from './taken-time.ts';

/** Where a process was ready and had no core for a larger share of the time, a measurement says nothing about it. */
const TAKEN_SHARE_MAX = 0.25;
const SAMPLE_MS = 50;

/** Something was not in time. Not judged: the scheduler took so much that this says nothing about the processes. */
export class TimeBoundError extends Error {
  readonly code = 'RELAY_TIME_BOUND';
  readonly judged: boolean;

  constructor(message: string, judged: boolean) {
    super(message);
    this.judged = judged;
  }
}

export interface Running {
  readonly pid: number;
}

/** Bounds on what happens from the call of `watchScheduler` on, less what the scheduler takes from the processes. */
export interface SchedulerWatch extends Disposable {
  /**
   * Throws if a duration was longer. A part of the time, such as a high percentile of many durations, is allowed what the scheduler took
   * of the worst span that is as long.
   */
  within(msMax: number, tookMs: number, what: string): void;
  /** The same for a median, of which the scheduler took the same share as of the whole time. */
  typicallyWithin(msMax: number, tookMs: number, what: string): void;
  /** For what depends on time and is not a duration, such as a count per second. */
  inTime(holds: boolean, what: string): void;
  /** The longest that the scheduler may have delayed something by; in the worst span of that length, if one is given. */
  takenMs(spanMs?: number): number;
}

/** Runs the work, which is to end within `msMax` beyond what the scheduler takes from these processes and from this one. */
export async function within<Result>(
  msMax: number,
  processes: readonly Running[],
  what: string,
  work: () => Promise<Result>,
): Promise<Result> {
  using watch = watchScheduler(processes);
  const startMs = performance.now();
  const result = await work();
  watch.within(msMax, performance.now() - startMs, what);
  return result;
}

/** Watches these processes and this one, each with its threads. One that ends counts until then. */
export function watchScheduler(
  processes: readonly Running[],
  readWaited: typeof waitedMsByThread = waitedMsByThread,
  readStolenMs: typeof stolenMs = stolenMs,
): SchedulerWatch {
  const pids = [...new Set([process.pid, ...processes.map(({ pid }) => pid)])];
  const samples: Sample[] = [];
  let [atMs, stolenBeforeMs] = [performance.now(), readStolenMs()];
  let before = pids.map(readWaited);

  function sample(): readonly Sample[] {
    const nowMs = performance.now();
    const now = pids.map(readWaited);
    const stolenNowMs = readStolenMs();
    const waitedMs = now.map((threads, index) => mostGrown(before[index] ?? new Map(), threads));
    // A thread whose core the host has taken does not count as waiting, so the host's share of a core stands beside the threads'.
    const hostMs = (stolenNowMs - stolenBeforeMs) / availableParallelism();
    samples.push({ ms: nowMs - atMs, waitedMs: [...waitedMs, hostMs] });
    [atMs, stolenBeforeMs, before] = [nowMs, stolenNowMs, now];
    return samples;
  }
  const timer = setInterval(sample, SAMPLE_MS).unref();

  function judge(isInTime: boolean, what: string, taken: Taken): void {
    if (isInTime) return;
    const judged = taken.shareMost <= TAKEN_SHARE_MAX;
    const why = `the scheduler took ${taken.ms.toFixed(0)} ms of ${taken.ofMs.toFixed(0)}`;
    throw new TimeBoundError(`${what} (${why}${judged ? '' : ': not judged'})`, judged);
  }
  const tooLong = (msMax: number, tookMs: number, what: string) =>
    `${what}: ${tookMs.toFixed(1)} ms, and ${msMax.toFixed(0)} are allowed`;

  return {
    within(msMax, tookMs, what) {
      const taken = mostTaken(sample(), tookMs);
      judge(tookMs - taken.ms <= msMax, tooLong(msMax, tookMs, what), taken);
    },
    typicallyWithin(msMax, tookMs, what) {
      const taken = takenIn(sample());
      judge(tookMs * (1 - taken.ms / taken.ofMs) <= msMax, tooLong(msMax, tookMs, what), taken);
    },
    inTime: (holds, what) => judge(holds, what, takenIn(sample())),
    takenMs: (spanMs) => (spanMs === undefined ? takenIn(sample()) : mostTaken(sample(), spanMs)).ms,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function mostGrown(before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): number {
  return Math.max(0, ...[...now].map(([thread, ms]) => ms - (before.get(thread) ?? 0)));
}
