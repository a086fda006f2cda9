import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { RequestLogEntry } from '@relay/provider-sim';

const ENTRY = join(import.meta.dirname, '../../../provider-sim/src/main.ts');

/** The simulated provider in a process of its own, so that its work does not delay the clients'. */
export interface ProviderProcess {
  readonly baseUrl: string;
  readonly pid: number;
  log(): Promise<RequestLogEntry[]>;
  openStreams(): Promise<number>;
  /** Open connections to it, from any process. */
  openConnections(): number;
  stop(): Promise<void>;
}

export async function startProviderProcess(): Promise<ProviderProcess> {
  const child = spawn(process.execPath, [ENTRY, '--bodies', 'none'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);
  const exited = once(child, 'exit');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const {
    url,
    base_url: baseUrl,
    port,
  } = JSON.parse(line) as { url: string; base_url: string; port: number };

  async function ask(path: string): Promise<Record<string, unknown>> {
    const response = await fetch(url + path, { headers: { connection: 'close' } });
    return (await response.json()) as Record<string, unknown>;
  }
  return {
    baseUrl,
    pid: child.pid ?? 0,
    log: async () => (await ask('/_sim/log?since=0&body=0'))['entries'] as RequestLogEntry[],
    openStreams: async () => Number((await ask('/_sim/counts'))['openStreams']),
    openConnections: () => establishedTo(port),
    async stop() {
      process.off('exit', killOnExit);
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** From the system's own table: sockets whose far end is that port and that are established. */
function establishedTo(port: number): number {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  return lines.filter((line) => {
    const [, , far = '', state] = line.trim().split(/\s+/);
    return far.endsWith(remote) && state === '01';
  }).length;
}
