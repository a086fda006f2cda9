import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ProbeReading } from './server-probe.ts';

const SYNC_MS_MAX = 20_000;

export const PROBE_FLAGS: readonly string[] = ['--import', join(import.meta.dirname, 'server-probe.ts')];

/** Asks the probe of the server that was started with this socket file. */
async function askProbe(path: string, command: string): Promise<ProbeReading> {
  const socket = createConnection(path);
  try {
    socket.write(`${command}\n`);
    const lines = createInterface({ input: socket });
    const closed = once(socket, 'close').then(() => Promise.reject(new Error('the server has ended')));
    const [line] = (await Promise.race([once(lines, 'line'), closed])) as [string];
    return JSON.parse(line) as ProbeReading;
  } finally {
    socket.destroy();
  }
}

/** Resolves when the server has caught up with that; see server-probe.ts. */
export async function syncBy(path: string, what: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the server has not reached: ${what}`)), SYNC_MS_MAX);
  });
  await Promise.race([askProbe(path, `sync ${what}`), late]).finally(() => clearTimeout(timer));
}

/** How to start a server with the probe inside, and how to ask it. */
export interface Probe {
  readonly nodeFlags: string[];
  readonly env: Record<string, string>;
  /** Forgets the loop delays so far. */
  reset(): Promise<ProbeReading>;
  read(): Promise<ProbeReading>;
  /** Collects garbage first. */
  collect(): Promise<ProbeReading>;
  remove(): void;
}

export function createProbe(): Probe {
  const directory = mkdtempSync(join(tmpdir(), 'relay-probe-'));
  const path = join(directory, 'probe.sock');
  const ask = (command: string) => askProbe(path, command);
  return {
    nodeFlags: ['--expose-gc', ...PROBE_FLAGS],
    env: { RELAY_PROBE_SOCKET: path },
    reset: () => ask('reset'),
    read: () => ask('read'),
    collect: () => ask('collect'),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
