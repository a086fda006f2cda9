import { createClient } from 'redis';

export interface CommandTotals {
  readonly calls: number;
  readonly us: number;
}

export interface CountersReading {
  readonly processId: number;
  /** All scripts that clients called, whether known by their digest or sent whole. */
  readonly scripts: CommandTotals;
  readonly cpuMs: number;
}

export interface RedisCounters {
  read(): Promise<CountersReading>;
  close(): void;
}

/** What Redis itself has counted since it started. */
export async function openCounters(url: string): Promise<RedisCounters> {
  const client = createClient({ url, disableClientInfo: true, maintNotifications: 'disabled' });
  client.on('error', (error: unknown) => {
    throw error;
  });
  await client.connect();
  return {
    async read() {
      const reply = await client.sendCommand(['INFO', 'server', 'cpu', 'commandstats']);
      return readInfo(String(reply));
    },
    close: () => client.destroy(),
  };
}

export function readInfo(info: string): CountersReading {
  const fields = new Map(
    info
      .split('\r\n')
      .map((line) => line.split(':', 2))
      .map(([name = '', value = '']) => [name, value]),
  );
  const scripts = ['cmdstat_evalsha', 'cmdstat_eval'].map((name) => totalsOf(fields.get(name)));
  const seconds = Number(fields.get('used_cpu_user')) + Number(fields.get('used_cpu_sys'));
  return {
    processId: Number(fields.get('process_id')),
    scripts: {
      calls: scripts.reduce((sum, { calls }) => sum + calls, 0),
      us: scripts.reduce((sum, { us }) => sum + us, 0),
    },
    cpuMs: seconds * 1_000,
  };
}

/** `calls=12,usec=345,usec_per_call=28.75,…`; nothing at all for a command that was never called. */
function totalsOf(line: string | undefined): CommandTotals {
  const number = (name: string) => Number(new RegExp(`(?:^|,)${name}=(\\d+)`).exec(line ?? '')?.[1] ?? 0);
  return { calls: number('calls'), us: number('usec') };
}
