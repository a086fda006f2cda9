import { once } from 'node:events';
import { createConnection } from 'node:net';

/** Text has one character for each byte, because lengths in the protocol count bytes. */
export type RedisReply = string | number | null | readonly RedisReply[];

const SILENCE_MS_MAX = 5_000;

/**
 * Sends commands together on one connection and returns their replies in order. A client without a library, because
 * tests of a store must not share the client of the product.
 */
export async function redisCalls(
  port: number,
  commands: readonly (readonly string[])[],
): Promise<RedisReply[]> {
  if (commands.length === 0) return [];
  const socket = createConnection({ host: '127.0.0.1', port });
  socket.setTimeout(SILENCE_MS_MAX, () => socket.destroy(new Error('Redis does not answer')));
  try {
    await once(socket, 'connect');
    socket.write(Buffer.from(commands.map(encode).join(''), 'latin1'));
    const chunks: string[] = [];
    socket.setEncoding('latin1');
    for await (const chunk of socket) {
      chunks.push(String(chunk));
      // Parses only when the reply may be complete.
      if (!chunks.at(-1)?.endsWith('\r\n')) continue;
      const text = chunks.join('');
      chunks.splice(0, chunks.length, text);
      const replies = parseAll(text, commands.length);
      if (replies !== null) return replies;
    }
    throw new Error('Redis closed the connection');
  } finally {
    socket.destroy();
  }
}

export async function redisCall(port: number, ...command: readonly string[]): Promise<RedisReply> {
  const [reply = null] = await redisCalls(port, [command]);
  return reply;
}

/** Every key that matches a pattern of `KEYS`, sorted. */
export async function redisKeys(port: number, pattern = '*'): Promise<string[]> {
  const reply = await redisCall(port, 'KEYS', pattern);
  if (!Array.isArray(reply)) throw new Error('KEYS did not return a list');
  return reply.map(String).sort();
}

function encode(command: readonly string[]): string {
  const parts = command.map((part) => `$${part.length}\r\n${part}\r\n`);
  return `*${command.length}\r\n${parts.join('')}`;
}

/** Null while the replies are incomplete. */
function parseAll(text: string, count: number): RedisReply[] | null {
  const replies: RedisReply[] = [];
  let at = 0;
  while (replies.length < count) {
    const parsed = parse(text, at);
    if (parsed === null) return null;
    replies.push(parsed.value);
    at = parsed.end;
  }
  return replies;
}

function parse(text: string, from: number): { value: RedisReply; end: number } | null {
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
    case '*':
      return line === '-1' ? { value: null, end: next } : parseList(text, next, Number(line));
    default:
      return { value: line, end: next };
  }
}

function parseList(text: string, from: number, count: number): { value: RedisReply; end: number } | null {
  const values: RedisReply[] = [];
  let at = from;
  while (values.length < count) {
    const item = parse(text, at);
    if (item === null) return null;
    values.push(item.value);
    at = item.end;
  }
  return { value: values, end: at };
}
