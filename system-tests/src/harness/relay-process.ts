import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '@relay/testbed';

const ENTRY = join(import.meta.dirname, '../../../cli/bin/relay.js');
const START_MS_MAX = 30_000;

/** One server process, started as an operator would start it. */
export interface RelayProcess {
  readonly url: string;
  readonly pid: number;
  /** Log lines so far, parsed. */
  readonly logs: readonly Record<string, unknown>[];
  /** SIGTERM; answers the exit code. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

export interface RelayProcessOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly role?: string;
  readonly nodeFlags?: readonly string[];
}

export async function startRelay(options: RelayProcessOptions): Promise<RelayProcess> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    process.execPath,
    [...(options.nodeFlags ?? []), ENTRY, 'serve', '--role', options.role ?? 'all'],
    {
      env: { PATH: process.env['PATH'] ?? '', RELAY_HTTP_ADDR: `127.0.0.1:${port}`, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);
  const logs: Record<string, unknown>[] = [];
  const errors: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  await untilListening(child, logs, errors);

  const exited = once(child, 'exit').then(([code]) => {
    process.off('exit', killOnExit);
    return code as number | null;
  });
  return {
    url,
    pid: child.pid ?? 0,
    logs,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      return exited;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Starts the server expecting it to refuse; answers its exit code and what it said. */
export async function startRefused(
  options: RelayProcessOptions,
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [ENTRY, 'serve', '--role', options.role ?? 'all'], {
    env: { PATH: process.env['PATH'] ?? '', ...options.env },
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

function untilListening(
  child: ChildProcess & { stdout: NodeJS.ReadableStream },
  logs: Record<string, unknown>[],
  errors: readonly string[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail('did not listen in time'), START_MS_MAX);
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
    createInterface({ input: child.stdout }).on('line', (line) => {
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
