import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** Load, upstream, Redis and PostgreSQL. */
const LOAD_CORE = 0;
/** The gateway under measurement, alone. */
export const GATEWAY_CORE = 1;

const START_MS_MAX = 120_000;
const STOP_MS_MAX = 10_000;
const OUTPUT_CHARS_MAX = 8_000;

/** One listener ends all, however many there are. */
const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

export interface PinnedProcess {
  readonly pid: number;
  readonly port: number;
  /** SIGTERM, and SIGKILL when that is not enough. */
  stop(): Promise<void>;
}

export interface PinnedProcessOptions {
  readonly name: string;
  readonly core: 'gateway' | 'load';
  /** Arguments of node. */
  readonly args: readonly string[];
  readonly port: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** This process and all it starts from now on keep to the core of the load. */
export function pinToLoadCore(): void {
  if (process.platform !== 'linux' || availableParallelism() < 2)
    throw new Error('this bench pins processes with taskset and reads /proc: it needs Linux and two cores');
  execFileSync('taskset', ['-a', '-p', '-c', String(LOAD_CORE), String(process.pid)], { stdio: 'ignore' });
}

/** What lets a command run before all others of its core, where that is permitted: half a core differs by more than the product. */
export const FIRST = ['chrt', '-r', '5'];
export const mayRunFirst = (): boolean => spawnSync('chrt', [...FIRST.slice(1), 'true']).status === 0;

/**
 * Lets these processes, and this one, run before all others of their cores, where that is permitted. Not for a profile, whose own
 * thread would never run.
 */
export function runFirst(pids: readonly number[]): void {
  if (!mayRunFirst()) return;
  for (const pid of [process.pid, ...pids])
    execFileSync('chrt', ['-a', '-r', '-p', '5', String(pid)], { stdio: 'ignore' });
}

/** Starts node on its core and waits until the port accepts connections. */
export async function startPinned(options: PinnedProcessOptions): Promise<PinnedProcess> {
  const core = String(options.core === 'gateway' ? GATEWAY_CORE : LOAD_CORE);
  const child = spawn('taskset', ['-c', core, process.execPath, ...options.args], {
    env: { PATH: process.env['PATH'] ?? '', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  children.add(child);
  const exited = once(child, 'exit').then(() => children.delete(child));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-OUTPUT_CHARS_MAX);
    });
  }
  await untilServing(child, options, () => output);
  return {
    pid: child.pid ?? 0,
    port: options.port,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
      await exited;
      clearTimeout(timer);
    },
  };
}

async function untilServing(
  child: ChildProcess,
  { name, port }: PinnedProcessOptions,
  output: () => string,
): Promise<void> {
  const endMs = performance.now() + START_MS_MAX;
  while (performance.now() < endMs) {
    if (child.exitCode !== null) throw new Error(`${name} exited with ${child.exitCode}:\n${output()}`);
    if (await accepts(port)) return;
    await sleep(20);
  }
  child.kill('SIGKILL');
  throw new Error(`${name} did not listen on port ${port} in time:\n${output()}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
