import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_S = 100;
const SAMPLE_MS = 1_000;

/** The CPU time of this process's children that have ended, with that of their children. Zero where there is no `/proc`. */
export function endedChildrenCpuS(): number {
  const fields = statFields('self');
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) / TICKS_PER_S;
}

/** Samples the run delay of a process and its descendants; returns the longest of any process when it is called. */
export function watchRunDelay(rootPid: number): () => number {
  const delays = new Map<number, number>();
  const members = new Set([rootPid]);
  const sample = () => {
    const parents = new Map<number, number>();
    for (const pid of processIds()) parents.set(pid, Number(statFields(String(pid))[1] ?? 0));
    for (const pid of parents.keys()) if (hasAncestor(pid, parents, members)) members.add(pid);
    for (const pid of members) {
      const delayS = runDelayS(pid);
      if (delayS !== null) delays.set(pid, delayS);
    }
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    return Math.max(0, ...delays.values());
  };
}

function hasAncestor(
  pid: number,
  parents: ReadonlyMap<number, number>,
  members: ReadonlySet<number>,
): boolean {
  for (let each: number | undefined = pid; each !== undefined && each > 1; each = parents.get(each))
    if (members.has(each)) return true;
  return false;
}

/** Of the main thread. The second field counts nanoseconds in which it waited for a core. */
function runDelayS(pid: number): number | null {
  const [, delayNs] = read(`/proc/${pid}/schedstat`).split(' ');
  return delayNs === undefined ? null : Number(delayNs) / 1e9;
}

/** The fields after the program's name, which may contain spaces. The first one is the state. */
function statFields(pid: string): string[] {
  const text = read(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Empty if the process has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
