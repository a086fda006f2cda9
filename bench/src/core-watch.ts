import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { coreBusyMs } from './cpu-time.ts';
import { GATEWAY_CORE } from './pinned-process.ts';

/** Of the measured core. Above this, figures say more about the other processes than about the gateway. */
export const OTHERS_SHARE_MAX = 0.05;

const NAMED_MAX = 5;
const NAME_CHARS_MAX = 80;
const LOOK_MS = 2_000;

/** CPU of each process that may run on the measured core, by its id. */
export type ProcessTimes = ReadonlyMap<number, { readonly name: string; readonly cpuMs: number }>;

export interface CoreWatch {
  /** Throws, naming the processes that used most CPU since the watch began, when the share is too large. */
  demandQuiet(othersShare: number, during: string): void;
}

/** `ours` are the gateways under measurement. */
export function watchCore(ours: readonly number[]): CoreWatch {
  const [before, startMs] = [readProcessTimes(ours), performance.now()];
  return {
    demandQuiet(othersShare, during) {
      if (othersShare <= OTHERS_SHARE_MAX) return;
      const names = busiest(before, readProcessTimes(ours), performance.now() - startMs);
      throw new Error(
        `other processes took ${percent(othersShare)} of core ${GATEWAY_CORE} during ${during}, so there are no results. ` +
          `Most CPU went to ${names.join(', ') || 'processes that have ended'}. Stop them and measure again.`,
      );
    },
  };
}

/** Before anything is started, so that a busy machine is noticed in seconds. */
export async function demandQuietCore(): Promise<void> {
  const watch = watchCore([]);
  const [startMs, busyMs] = [performance.now(), coreBusyMs(GATEWAY_CORE)];
  await sleep(LOOK_MS);
  const share = (coreBusyMs(GATEWAY_CORE) - busyMs) / (performance.now() - startMs);
  watch.demandQuiet(share, 'the seconds before the start');
}

/** The processes that used most CPU in between, with their shares of a core. */
export function busiest(before: ProcessTimes, after: ProcessTimes, elapsedMs: number): string[] {
  return [...after]
    .map(([pid, { name, cpuMs }]) => ({ pid, name, usedMs: cpuMs - (before.get(pid)?.cpuMs ?? 0) }))
    .filter(({ usedMs }) => usedMs > 0)
    .sort((a, b) => b.usedMs - a.usedMs)
    .slice(0, NAMED_MAX)
    .map(({ pid, name, usedMs }) => `${name} (${pid}) ${percent(usedMs / elapsedMs)}`);
}

/** Whether a list as `0-2,5` of `/proc/PID/status` has the core. */
export function listsCore(list: string, core: number): boolean {
  return list.split(',').some((part) => {
    const [first = Number.NaN, last = first] = part.split('-').map(Number);
    return first <= core && core <= last;
  });
}

function readProcessTimes(ours: readonly number[]): ProcessTimes {
  const times = new Map<number, { name: string; cpuMs: number }>();
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || ours.includes(pid)) continue;
    try {
      const allowed = /^Cpus_allowed_list:\s+(\S+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      if (!listsCore(allowed ?? '', GATEWAY_CORE)) continue;
      const cpuMs = Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
      times.set(pid, { name: nameOf(pid), cpuMs });
    } catch {
      // The process ended between two reads.
    }
  }
  return times;
}

/** The start of its command line; threads of the kernel have none. */
function nameOf(pid: number): string {
  const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  return line === '' ? readFileSync(`/proc/${pid}/comm`, 'utf8').trim() : line.slice(0, NAME_CHARS_MAX);
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
