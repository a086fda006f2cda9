import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './is-alive.ts';
import { unmountSmallDisk } from './small-disk.ts';

/** A server process that is ours: started, stopped and killed by its own id. */
export interface ChildServer {
  readonly pid: number;
  /** What it last wrote, for messages. */
  output(): string;
  running(): boolean;
  signal(signal: NodeJS.Signals): void;
  exited(): Promise<void>;
}

export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

const PREFIX = 'relay-testbed-';
const OUTPUT_CHARS_MAX = 8_000;
const SETPRIV = '/usr/bin/setpriv';

const children = new Set<ChildProcess>();
const directories = new Set<string>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const directory of directories) discard(directory);
});

/** Removed when the process ends; if it is killed, by the next process that makes one. */
export function makeDirectory(kind: string): string {
  if (directories.size === 0) sweepAbandoned();
  const directory = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-${kind}-`));
  directories.add(directory);
  return directory;
}

function sweepAbandoned(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN;
    if (pid > 0 && !isAlive(pid)) discard(join(tmpdir(), name));
  }
}

export function removeDirectory(directory: string): void {
  directories.delete(directory);
  discard(directory);
}

function discard(directory: string): void {
  unmountSmallDisk(directory);
  rmSync(directory, { recursive: true, force: true });
}

/** `env`: variables beside those of this process. */
export interface ChildOptions {
  readonly cwd: string;
  readonly runAs?: RunAs;
  readonly env?: Readonly<Record<string, string>>;
}

export function startChild(command: string, args: readonly string[], options: ChildOptions): ChildServer {
  const child = spawnBound(command, args, options);
  children.add(child);
  let output = '';
  const collect = (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(-OUTPUT_CHARS_MAX);
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  child.once('error', (error) => {
    output += `\n${error.message}`;
  });
  const exit = once(child, 'exit').then(
    () => undefined,
    () => undefined,
  );
  child.once('exit', () => children.delete(child));
  hold(child, 'unref');
  return {
    pid: child.pid ?? -1,
    output: () => output,
    running: () => child.pid !== undefined && child.exitCode === null && child.signalCode === null,
    signal: (signal) => child.kill(signal),
    exited() {
      hold(child, 'ref');
      return exit;
    },
  };
}

/** A server that a failed test forgot must not keep the process from ending, but its end can be awaited. */
function hold(child: ChildProcess, how: 'ref' | 'unref'): void {
  child[how]();
  for (const stream of [child.stdout, child.stderr]) {
    if (stream instanceof Socket) stream[how]();
  }
}

/**
 * Where the system can do so, the child is bound to die with this process even when this process is killed
 * with SIGKILL and cannot clean up. It keeps the id of the child, because setpriv becomes the command.
 */
function spawnBound(command: string, args: readonly string[], options: ChildOptions): ChildProcess {
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  const { cwd, runAs } = options;
  const env = { ...process.env, ...options.env };
  if (!hasSetpriv()) return spawn(command, args, { cwd, env, stdio, ...runAs });
  const identity = runAs ? [`--reuid=${runAs.uid}`, `--regid=${runAs.gid}`, '--clear-groups'] : [];
  return spawn(SETPRIV, [...identity, '--pdeathsig=KILL', '--', command, ...args], { cwd, env, stdio });
}

function hasSetpriv(): boolean {
  try {
    accessSync(SETPRIV, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Tries until it succeeds, the child ends, or the time is over. There is no event for "accepts connections". */
export async function waitUntilServing(
  child: ChildServer,
  name: string,
  attempt: () => Promise<void>,
): Promise<void> {
  const endMs = performance.now() + 30_000;
  for (;;) {
    if (!child.running()) throw new Error(`${name} exited instead of starting:\n${child.output()}`);
    try {
      await attempt();
      return;
    } catch (cause) {
      if (performance.now() > endMs)
        throw new Error(`${name} does not answer:\n${child.output()}`, { cause });
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
