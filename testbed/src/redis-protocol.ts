import { once } from 'node:events';
import { createConnection } from 'node:net';

/**
 * Sends one command to a Redis server and answers the first line of its reply. Enough to see that a server is up
 * and to put a cluster together, without a client library.
 */
export async function redisCommand(port: number, ...args: readonly string[]): Promise<string> {
  const socket = createConnection({ host: '127.0.0.1', port });
  socket.setTimeout(2_000, () => socket.destroy(new Error('Redis does not answer')));
  try {
    await once(socket, 'connect');
    socket.write(
      `*${args.length}\r\n${args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`).join('')}`,
    );
    let reply = '';
    for await (const chunk of socket) {
      reply += String(chunk);
      if (isComplete(reply)) break;
    }
    if (reply.startsWith('-')) throw new Error(`Redis: ${reply.trim()}`);
    return reply;
  } finally {
    socket.destroy();
  }
}

function isComplete(reply: string): boolean {
  const end = reply.indexOf('\r\n');
  if (end < 0) return false;
  if (!reply.startsWith('$')) return true;
  const bytes = Number(reply.slice(1, end));
  return bytes < 0 || Buffer.byteLength(reply) >= end + 2 + bytes + 2;
}
