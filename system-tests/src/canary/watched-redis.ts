import { createConnection, type Socket } from 'node:net';
import { type RedisReply, redisCalls, redisKeys } from '@relay/testbed';

/** Records every command that reaches Redis, including those that leave no data. */
export interface RedisWatch {
  /** Reconnects after Redis was restarted. */
  open(): Promise<void>;
  seen(): Buffer;
  close(): void;
}

export function watchRedis(port: number): RedisWatch {
  const chunks: Buffer[] = [];
  let socket: Socket | null = null;
  return {
    open() {
      socket?.destroy();
      const opened = createConnection({ host: '127.0.0.1', port });
      socket = opened;
      opened.on('error', () => undefined);
      opened.write('MONITOR\r\n');
      return new Promise((resolve, reject) => {
        opened.once('close', () => reject(new Error('Redis cannot be watched')));
        opened.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          // The first reply confirms MONITOR.
          resolve();
        });
      });
    },
    seen: () => Buffer.concat(chunks),
    close: () => socket?.destroy(),
  };
}

const READ: Readonly<Record<string, (key: string) => string[]>> = {
  string: (key) => ['GET', key],
  hash: (key) => ['HGETALL', key],
  list: (key) => ['LRANGE', key, '0', '-1'],
  set: (key) => ['SMEMBERS', key],
  zset: (key) => ['ZRANGE', key, '0', '-1', 'WITHSCORES'],
  stream: (key) => ['XRANGE', key, '-', '+'],
};

/** Every key with what it holds. */
export async function dumpRedis(port: number): Promise<{ key: string; bytes: Buffer }[]> {
  const keys = await redisKeys(port);
  const types = await redisCalls(
    port,
    keys.map((key) => ['TYPE', key]),
  );
  const reads = keys.map((key, index) => {
    const read = READ[String(types[index])];
    // It may have expired between the two calls.
    return read === undefined ? ['TYPE', key] : read(key);
  });
  const values = await redisCalls(port, reads);
  return keys.map((key, index) => ({
    key,
    bytes: Buffer.from(`${key}\n${textOf(values[index] ?? null)}`, 'latin1'),
  }));
}

function textOf(reply: RedisReply): string {
  return Array.isArray(reply) ? reply.map(textOf).join('\n') : String(reply);
}
