import { once } from 'node:events';
import { createConnection } from 'node:net';

/** Text with one character for each byte. */
export type Reply = string | number | null | readonly Reply[];

const SILENCE_MS_MAX = 5_000;

/** Sends commands on a connection of their own, all at once, and answers their replies in order. */
export async function redisCalls(port: number, commands: readonly (readonly string[])[]): Promise<Reply[]> {
  if (commands.length === 0) return [];
  const socket = createConnection({ host: '127.0.0.1', port });
  socket.setTimeout(SILENCE_MS_MAX, () => socket.destroy(new Error('Redis does not answer')));
  try {
    await once(socket, 'connect');
    socket.write(Buffer.from(commands.map(encode).join(''), 'latin1'));
    const chunks: string[] = [];
    for await (const chunk of socket) {
      chunks.push((chunk as Buffer).toString('latin1'));
      // Joining is put off while the reply cannot be at its end.
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

export async function redisCall(port: number, ...command: readonly string[]): Promise<Reply> {
  const [reply = null] = await redisCalls(port, [command]);
  return reply;
}

/** Every key, and what `KEYS` takes for a pattern. */
export async function redisKeys(port: number, pattern = '*'): Promise<string[]> {
  return ((await redisCall(port, 'KEYS', pattern)) as string[]).sort();
}

function encode(command: readonly string[]): string {
  const parts = command.map((part) => `$${part.length}\r\n${part}\r\n`);
  return `*${command.length}\r\n${parts.join('')}`;
}

/** Null while they are not complete. */
function parseAll(text: string, count: number): Reply[] | null {
  const replies: Reply[] = [];
  let at = 0;
  while (replies.length < count) {
    const parsed = parse(text, at);
    if (parsed === null) return null;
    replies.push(parsed.value);
    at = parsed.end;
  }
  return replies;
}

function parse(text: string, from: number): { value: Reply; end: number } | null {
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

function parseList(text: string, from: number, count: number): { value: Reply; end: number } | null {
  const values: Reply[] = [];
  let at = from;
  while (values.length < count) {
    const item = parse(text, at);
    if (item === null) return null;
    values.push(item.value);
    at = item.end;
  }
  return { value: values, end: at };
}
