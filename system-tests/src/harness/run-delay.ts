import { readFileSync } from 'node:fs';

/** The part of the time since `start` that a process was ready to run and another one had its core. */
export interface RunDelay {
  share(): number;
}

export function watchRunDelay(pids: readonly number[]): RunDelay {
  const startMs = performance.now();
  const before = pids.map(delayMs);
  return {
    share() {
      const tookMs = performance.now() - startMs;
      return Math.max(...pids.map((pid, index) => (delayMs(pid) - (before[index] ?? 0)) / tookMs));
    },
  };
}

/** The system keeps, for a process's main thread: nanoseconds on a core, nanoseconds waiting for one, turns. */
function delayMs(pid: number): number {
  const [, waited = '0'] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return Number(waited) / 1e6;
}
