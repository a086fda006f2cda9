import { once } from 'node:events';
import { createConnection } from 'node:net';

/**
 * Names of the live state that Redis holds: leases, their expiries, those who wait, those in line and those under
 * way. Windows, cooldowns, the clock and the usage stream are not live: they stay.
 */
const LIVE = /:(lease|queue|order|line|holders):|:expiry$/;

export async function liveKeys(ports: readonly number[]): Promise<string[]> {
  const found: string[] = [];
  for (const port of ports) {
    const keys = (await redis(port, 'KEYS', 'relay:{s*}:*')) as string[];
    found.push(...keys.filter((key) => LIVE.test(key)));
  }
  return found.sort();
}

/** One command on a connection of its own, its reply parsed whole. */
async function redis(port: number, ...args: readonly string[]): Promise<unknown> {
  const socket = createConnection({ host: '127.0.0.1', port });
  socket.setTimeout(2_000, () => socket.destroy(new Error('Redis does not answer')));
  try {
    await once(socket, 'connect');
    socket.write(
      `*${args.length}\r\n${args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`).join('')}`,
    );
    let received = '';
    for await (const chunk of socket) {
      // Latin: one character is one byte, as the lengths in the protocol count.
      received += (chunk as Buffer).toString('latin1');
      const reply = parse(received, 0);
      if (reply !== null) return reply.value;
    }
    throw new Error('Redis closed the connection');
  } finally {
    socket.destroy();
  }
}

/** Null while it is not complete. */
function parse(text: string, from: number): { value: unknown; end: number } | null {
  const lineEnd = text.indexOf('\r\n', from);
  if (lineEnd < 0) return null;
  const line = text.slice(from + 1, lineEnd);
  const next = lineEnd + 2;
  switch (text[from]) {
    case '-':
      throw new Error(`Redis: ${line}`);
    case ':':
      return { value: Number(line), end: next };
    case '$': {
      if (line === '-1') return { value: null, end: next };
      const end = next + Number(line);
      return text.length < end + 2 ? null : { value: text.slice(next, end), end: end + 2 };
    }
    case '*': {
      const values: unknown[] = [];
      let at = next;
      for (let index = 0; index < Number(line); index += 1) {
        const item = parse(text, at);
        if (item === null) return null;
        values.push(item.value);
        at = item.end;
      }
      return { value: values, end: at };
    }
    default:
      return { value: line, end: next };
  }
}
