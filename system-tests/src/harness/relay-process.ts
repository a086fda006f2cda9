import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '@relay/testbed';
import { bareEnvironment } from './bare-environment.ts';
import { PROBE_FLAGS, syncBy } from './probe-client.ts';
import { RELAY_ENTRY } from './relay-entry.ts';

/** Generous: a machine that runs other suites as well starts a process slowly. */
const START_MS_MAX = 180_000;

/** One server process, started as an operator would start it. */
export interface RelayProcess {
  readonly url: string;
  readonly pid: number;
  readonly isRunning: boolean;
  /** Log lines so far, parsed. */
  readonly logs: readonly Record<string, unknown>[];
  /** Resolves when it has applied this version of the configuration, or when nothing is left to settle of this request. */
  sync(what: `configuration ${number}` | `settled ${string}`): Promise<void>;
  /** SIGTERM; answers the exit code. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

export interface RelayProcessOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly role?: string;
  readonly nodeFlags?: readonly string[];
  /** Runs `relay start` on this directory; without it, `relay serve`. */
  readonly dataDirectory?: string;
  /** The command of another version. */
  readonly entry?: string;
  /** Without it any that is free. */
  readonly port?: number;
  /** How long it may take until it listens. */
  readonly startMsMax?: number;
  /** SIGKILL when it is aborted, listening or not. */
  readonly killed?: AbortSignal;
}

let started = 0;

export async function startRelay(options: RelayProcessOptions): Promise<RelayProcess> {
  const port = options.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  // A process that is started again has its own, which the end of the last one doesn't remove.
  started += 1;
  const probe = options.env['RELAY_PROBE_SOCKET'] ?? join(tmpdir(), `relay-${process.pid}-${started}.sock`);
  const command = [
    ...(options.nodeFlags ?? []),
    ...PROBE_FLAGS,
    options.entry ?? RELAY_ENTRY,
    ...argumentsOf(options),
  ];
  const child = spawn(process.execPath, command, {
    env: {
      ...bareEnvironment(),
      RELAY_HTTP_ADDR: `127.0.0.1:${port}`,
      RELAY_LOG_LEVEL: 'info',
      RELAY_PROBE_SOCKET: probe,
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);
  options.killed?.addEventListener('abort', killOnExit);
  const logs: Record<string, unknown>[] = [];
  const errors: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  await untilListening(
    child,
    options.dataDirectory === undefined ? child.stdout : child.stderr,
    logs,
    errors,
    options.startMsMax ?? START_MS_MAX,
  );

  const exited = once(child, 'exit').then(([code]) => {
    process.off('exit', killOnExit);
    rmSync(probe, { force: true });
    return code as number | null;
  });
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    url,
    pid: child.pid ?? 0,
    get isRunning() {
      return isRunning();
    },
    logs,
    sync: (what) => syncBy(probe, what),
    async stop() {
      if (isRunning()) child.kill('SIGTERM');
      return exited;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Starts a server that must fail; returns its exit code and output. */
export async function startRefused(
  options: RelayProcessOptions,
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [options.entry ?? RELAY_ENTRY, ...argumentsOf(options)], {
    env: { ...bareEnvironment(), ...options.env },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: START_MS_MAX,
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}

/** Runs another command to its end and answers what it printed; throws with what it said when it failed. */
export async function runRelay(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const child = spawn(process.execPath, [RELAY_ENTRY, ...args], {
    env: { ...bareEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: START_MS_MAX,
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => {
      said[name] += chunk.toString();
    });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`relay ${args[0]} exited with ${code}: ${said.stderr}`);
  return said.stdout;
}

function argumentsOf({ dataDirectory, role }: RelayProcessOptions): string[] {
  if (dataDirectory === undefined) return ['serve', '--role', role ?? 'all'];
  return ['start', '--data-dir', dataDirectory, ...(role === undefined ? [] : ['--role', role])];
}

/** `relay serve` writes its log to its output, `relay start` to where errors go. */
function untilListening(
  child: ChildProcess,
  log: NodeJS.ReadableStream,
  logs: Record<string, unknown>[],
  errors: readonly string[],
  startMsMax: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail('did not listen in time'), startMsMax);
    const fail = (why: string) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(
        new Error(
          `relay ${why}:\n${errors.join('\n')}\n${logs.map((line) => JSON.stringify(line)).join('\n')}`,
        ),
      );
    };
    child.once('exit', (code) => fail(`exited with ${code}`));
    createInterface({ input: log }).on('line', (line) => {
      const entry = parseLine(line);
      logs.push(entry);
      if (entry['msg'] !== 'listening') return;
      clearTimeout(timer);
      child.removeAllListeners('exit');
      resolve();
    });
  });
}

function parseLine(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return { text: line };
  }
}
