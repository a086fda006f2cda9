import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ProbeReading } from './server-probe.ts';

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
  async function ask(command: string): Promise<ProbeReading> {
    const socket = createConnection(path);
    socket.write(`${command}\n`);
    const [line] = (await once(createInterface({ input: socket }), 'line')) as [string];
    socket.destroy();
    return JSON.parse(line) as ProbeReading;
  }
  return {
    nodeFlags: ['--expose-gc', '--import', join(import.meta.dirname, 'server-probe.ts')],
    env: { RELAY_PROBE_SOCKET: path },
    reset: () => ask('reset'),
    read: () => ask('read'),
    collect: () => ask('collect'),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
