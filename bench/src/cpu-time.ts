import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 1_000 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/**
 * User and system time of a process so far, all threads. Read from the scheduler, which counts nanoseconds:
 * on a busy machine a slice may hold only a few of the ticks that `/proc/PID/stat` counts.
 */
export function processCpuMs(pid: number): number {
  let cpuNs = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`))
    cpuNs += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return cpuNs / 1e6;
}

/** Time a core has spent on processes; interrupts are the work of those who are measured, too. */
export function coreBusyMs(core: number): number {
  const line = new RegExp(`^cpu${core} (.*)$`, 'm').exec(readFileSync('/proc/stat', 'utf8'))?.[1];
  if (line === undefined) throw new Error(`there is no core ${core}`);
  const [user = 0, nice = 0, system = 0] = line.split(' ').map(Number);
  return (user + nice + system) * TICK_MS;
}

/** What one process and the others took of a core. */
export interface CoreUse {
  readonly cpuMs: number;
  readonly elapsedMs: number;
  /** Share of the core that went to other processes: the machine was busy when it is not near zero. */
  readonly othersShare: number;
}

/** Reads now, and answers what was used since. */
export function startCoreUse(pid: number, core: number): () => CoreUse {
  const reading = () => ({ cpuMs: processCpuMs(pid), busyMs: coreBusyMs(core), atMs: performance.now() });
  const before = reading();
  return () => {
    const after = reading();
    const [cpuMs, elapsedMs] = [after.cpuMs - before.cpuMs, after.atMs - before.atMs];
    const othersMs = after.busyMs - before.busyMs - cpuMs;
    return { cpuMs, elapsedMs, othersShare: Math.max(0, othersMs / elapsedMs) };
  };
}
