import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@relay/testbed';
import { bareEnvironment } from '../harness/bare-environment.ts';
import { RELAY_ENTRY } from '../harness/relay-entry.ts';

const START_MS_MAX = 60_000;

/** `relay start` as typed in a terminal, in its own folder. */
export interface Started {
  readonly url: string;
  /** What it has printed by the time it could be used. */
  readonly printed: string;
  readonly child: ChildProcess;
  readonly seconds: number;
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

export interface Folder {
  readonly path: string;
  start(args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<Started>;
  /** Expects it to refuse; answers what it said. */
  refused(
    args?: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Promise<{ code: number | null; stdout: string; stderr: string }>;
  remove(): void;
}

export function emptyFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'relay-start-'));
  const spawnStart = (args: readonly string[], env: Readonly<Record<string, string>>) =>
    spawn(process.execPath, [RELAY_ENTRY, 'start', ...args], {
      cwd: path,
      env: { ...bareEnvironment(), HOME: path, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  return {
    path,
    async start(args = [], env = {}) {
      const port = await freePort();
      const startMs = performance.now();
      const child = spawnStart(['--port', String(port), ...args], env);
      const printed = await untilRunning(child);
      const exited = once(child, 'exit').then(([code]) => code as number | null);
      return {
        url: `http://127.0.0.1:${port}`,
        printed,
        child,
        seconds: (performance.now() - startMs) / 1_000,
        async stop() {
          child.kill('SIGTERM');
          return exited;
        },
        async kill() {
          child.kill('SIGKILL');
          await exited;
        },
      };
    },
    async refused(args = [], env = {}) {
      const child = spawnStart(args, env);
      const [stdout, stderr] = [gather(child.stdout), gather(child.stderr)];
      const timer = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX);
      const [code] = (await once(child, 'close')) as [number | null];
      clearTimeout(timer);
      return { code, stdout: stdout(), stderr: stderr() };
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

function gather(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return () => text;
}

async function untilRunning(
  child: ChildProcess & { stdout: NodeJS.ReadableStream; stderr: NodeJS.ReadableStream },
) {
  const [stdout, stderr] = [gather(child.stdout), gather(child.stderr)];
  const endMs = performance.now() + START_MS_MAX;
  // It is one block, whose last line says how to stop it.
  while (!stdout().includes('Ctrl+C')) {
    if (child.exitCode !== null || performance.now() > endMs) {
      child.kill('SIGKILL');
      throw new Error(`relay start did not come up:\n${stdout()}\n${stderr()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return stdout();
}
