import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Fault, RequestLogEntry } from '@relay/provider-sim';

const ENTRY = join(import.meta.dirname, '../../../provider-sim/src/main.ts');

/** The simulated provider in a process of its own, so that its work does not delay the clients'. */
export interface ProviderProcess {
  readonly baseUrl: string;
  readonly pid: number;
  log(): Promise<RequestLogEntry[]>;
  openStreams(): Promise<number>;
  /** Open connections to it, from any process. */
  openConnections(): number;
  /** Every request meets this fault from now on; null for none. */
  failWith(fault: Fault | null): Promise<void>;
  /** SIGKILL: connections are refused from now on. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** `port`: any that is free unless told, such as that of a process that was killed. */
export async function startProviderProcess({ port: given = 0 } = {}): Promise<ProviderProcess> {
  const child = spawn(process.execPath, [ENTRY, '--bodies', 'none', '--port', String(given)], {
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
  async function tell(path: string, body: object): Promise<void> {
    const headers = { connection: 'close', 'content-type': 'application/json' };
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  }
  return {
    baseUrl,
    pid: child.pid ?? 0,
    log: async () => (await ask('/_sim/log?since=0&body=0'))['entries'] as RequestLogEntry[],
    openStreams: async () => Number((await ask('/_sim/counts'))['openStreams']),
    openConnections: () => establishedTo(port),
    async failWith(fault) {
      await tell('/_sim/reset', {});
      if (fault !== null) await tell('/_sim/script', { fault, persistent: true });
    },
    async kill() {
      process.off('exit', killOnExit);
      child.kill('SIGKILL');
      await exited;
    },
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
