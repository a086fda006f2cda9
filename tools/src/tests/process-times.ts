import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_S = 100;
const SAMPLE_MS = 1_000;

/** The CPU time of this process's children that have ended, with that of their children. Zero where there is no `/proc`. */
export function endedChildrenCpuS(): number {
  const fields = statFields('self');
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) / TICKS_PER_S;
}

/** The run delay and the CPU time of a job's process and its descendants. */
export interface ProcessTimes {
  /** The longest of any process. */
  readonly runDelayS: number;
  /** Includes a browser's processes, for whose end no parent waits. Lacks what each process used after its last sample. */
  readonly cpuS: number;
}

/** Samples a process and its descendants; the function ends that and returns what they took. */
export function watchProcesses(rootPid: number): () => ProcessTimes {
  const times = new Map<number, ProcessTimes>();
  const members = new Set([rootPid]);
  const sample = () => {
    const stats = new Map(processIds().map((pid) => [pid, statFields(String(pid))]));
    const parents = new Map([...stats].map(([pid, fields]) => [pid, Number(fields[1] ?? 0)]));
    for (const [pid, fields] of stats) {
      if (!hasAncestor(pid, parents, members)) continue;
      members.add(pid);
      const runDelay = runDelayS(pid);
      if (runDelay === null) continue;
      const cpuS = (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_S;
      times.set(pid, { runDelayS: runDelay, cpuS });
    }
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    const all = [...times.values()];
    return {
      runDelayS: Math.max(0, ...all.map(({ runDelayS }) => runDelayS)),
      cpuS: all.reduce((sum, { cpuS }) => sum + cpuS, 0),
    };
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
