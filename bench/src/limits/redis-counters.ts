import { createClient } from '@redis/client';

export interface CommandTotals {
  readonly calls: number;
  readonly us: number;
}

export interface CountersReading {
  readonly processId: number;
  /** All scripts that clients called: known by their digest, sent whole, or functions of a library. */
  readonly scripts: CommandTotals;
  /** User and system time of the thread that runs commands; not of those that write and free in the background. */
  readonly mainThreadCpuMs: number;
  /** The size of the append-only file; 0 without one. */
  readonly aofBytes: number;
}

export interface RedisCounters {
  read(): Promise<CountersReading>;
  streamLength(stream: string): Promise<number>;
  /** `CONFIG SET`. */
  set(name: string, value: string): Promise<void>;
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
      const reply = await client.sendCommand(['INFO', 'server', 'cpu', 'persistence', 'commandstats']);
      return readInfo(String(reply));
    },
    streamLength: async (stream) => Number(await client.sendCommand(['XLEN', stream])),
    async set(name, value) {
      await client.sendCommand(['CONFIG', 'SET', name, value]);
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
  const scripts = ['cmdstat_evalsha', 'cmdstat_eval', 'cmdstat_fcall'].map((name) =>
    totalsOf(fields.get(name)),
  );
  const seconds = ['user', 'sys'].map((mode) => Number(fields.get(`used_cpu_${mode}_main_thread`) ?? 0));
  return {
    processId: Number(fields.get('process_id')),
    scripts: {
      calls: scripts.reduce((sum, { calls }) => sum + calls, 0),
      us: scripts.reduce((sum, { us }) => sum + us, 0),
    },
    mainThreadCpuMs: seconds.reduce((sum, each) => sum + each, 0) * 1_000,
    aofBytes: Number(fields.get('aof_current_size') ?? 0),
  };
}

/** `calls=12,usec=345,usec_per_call=28.75,…`; nothing at all for a command that was never called. */
function totalsOf(line: string | undefined): CommandTotals {
  const number = (name: string) => Number(new RegExp(`(?:^|,)${name}=(\\d+)`).exec(line ?? '')?.[1] ?? 0);
  return { calls: number('calls'), us: number('usec') };
}
