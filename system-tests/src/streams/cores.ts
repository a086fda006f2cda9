import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** One core for the server and one for everything else, where the machine has two. */
export interface Cores {
  readonly server: number;
  readonly rest: number;
}

export function twoCores(): Cores | null {
  const status = readFileSync('/proc/self/status', 'utf8');
  const allowed = parseList(/^Cpus_allowed_list:\s*(\S+)/m.exec(status)?.[1] ?? '');
  const [rest, server] = allowed;
  return rest === undefined || server === undefined ? null : { server, rest };
}

/** Moves a process, with all its threads, to one core; what it starts later inherits that. */
export function pin(pid: number, core: number): void {
  execFileSync('taskset', ['-a', '-c', '-p', String(core), String(pid)], { stdio: 'ignore' });
}

function parseList(text: string): number[] {
  return text.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
