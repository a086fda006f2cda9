// A process of its own: the attacker's clients and its provider, so that their work does not delay those who measure.
import { Agent, createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants, setPriority } from 'node:os';
import { gzipSync } from 'node:zlib';
import { type Attack, HOSTILE_ANSWERS, HOSTILE_BODIES, type HostileAnswer } from './attacks.ts';

/** From the suite. */
export type Order = { readonly start: Attack; readonly url: string; readonly key: string } | 'stop';
/** To the suite: where the provider listens, or that an attack has begun, or what its clients got. */
export type Word =
  | { readonly port: number }
  | { readonly begun: true }
  | { readonly statuses: Readonly<Record<string, number>> };

// An attacker has machines of its own: here its work takes what the gateway and those who measure leave.
setPriority(constants.priority.PRIORITY_LOW);

const USAGE = '"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}';
const smallAnswer = (outputTokens: number) =>
  JSON.stringify({
    choices: [{ index: 0, message: { role: 'assistant', content: 'x' } }],
    usage: { prompt_tokens: 1, completion_tokens: outputTokens, total_tokens: 1 + outputTokens },
  });
/** Requests that the provider reads to answer as they ask; larger ones it only takes in. */
const READ_BYTES_MAX = 100_000;

const made = new Map<HostileAnswer, Buffer>();

function bytesOf(name: HostileAnswer): Buffer {
  const known = made.get(name);
  if (known !== undefined) return known;
  const { unit, bytes, gzip, stream } = HOSTILE_ANSWERS[name];
  const many = unit.repeat(Math.floor(bytes / unit.length));
  const text = stream > 0 ? many : `{"choices":[],"z":[${many}1],${USAGE}}`;
  const answer = gzip ? gzipSync(text, { level: 6 }) : Buffer.from(text);
  made.set(name, answer);
  return answer;
}

function answer(response: ServerResponse, name: HostileAnswer): void {
  const { gzip, stream } = HOSTILE_ANSWERS[name];
  const bytes = bytesOf(name);
  response.setHeader('content-type', stream > 0 ? 'text/event-stream' : 'application/json');
  if (gzip) response.setHeader('content-encoding', 'gzip');
  for (let count = 1; count < stream; count += 1) response.write(bytes);
  response.end(bytes);
}

const provider = createServer((incoming, response) => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= READ_BYTES_MAX) chunks.push(chunk);
  });
  incoming.on('end', () => {
    const asked = bytes > READ_BYTES_MAX ? {} : (JSON.parse(Buffer.concat(chunks).toString()) as Asked);
    setTimeout(() => {
      if (asked.attack !== undefined) return answer(response, asked.attack);
      response.setHeader('content-type', 'application/json');
      response.end(smallAnswer(asked.reported_tokens ?? 1));
    }, asked.held_ms ?? 0);
  });
  response.on('error', () => undefined);
});

interface Asked {
  readonly attack?: HostileAnswer;
  readonly held_ms?: number;
  readonly reported_tokens?: number;
}

function bodyOf({ model, answer: attack, body, streaming, heldMs }: Attack): Buffer {
  if (body !== undefined) {
    const { unit, bytes } = HOSTILE_BODIES[body];
    const many = unit.repeat(Math.floor(bytes / unit.length));
    const content = body === 'escaped' ? `"${many}"` : '"x"';
    const list = body === 'escaped' ? '' : many;
    return Buffer.from(
      `{"model":"${model}","max_tokens":5,"z":[${list}1],"messages":[{"role":"user","content":${content}}]}`,
    );
  }
  // The simulated provider at the shared origin is asked in its own words.
  const held = heldMs === undefined ? {} : { held_ms: heldMs, sim: { delayMs: heldMs } };
  const messages = [{ role: 'user', content: 'hi' }];
  return Buffer.from(
    JSON.stringify({ model, max_tokens: 5, stream: streaming === true, messages, attack, ...held }),
  );
}

let agent = new Agent({ keepAlive: true });
let running = false;
let statuses: Record<string, number> = {};

function sendOne(url: string, key: string, body: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const note = (status: string) => {
      statuses[status] = (statuses[status] ?? 0) + 1;
      resolve();
    };
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': body.length,
    };
    const sent = request(`${url}/v1/chat/completions`, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.on('close', () => note(String(response.statusCode)));
    });
    sent.on('error', (error) => note((error as NodeJS.ErrnoException).code ?? error.message));
    sent.end(body);
  });
}

async function client(url: string, key: string, body: Buffer): Promise<void> {
  while (running) {
    await sendOne(url, key, body);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function begin({ start, url, key }: Exclude<Order, 'stop'>): void {
  running = true;
  statuses = {};
  agent = new Agent({ keepAlive: true });
  if (start.answer !== undefined) bytesOf(start.answer);
  const body = bodyOf(start);
  for (let count = 0; count < start.clients; count += 1) void client(url, key, body);
  say({ begun: true });
}

function say(word: Word): void {
  process.send?.(word);
}

process.on('message', (order: Order) => {
  if (order !== 'stop') return begin(order);
  running = false;
  agent.destroy();
  say({ statuses });
});
process.on('disconnect', () => process.exit(0));
provider.listen(0, '127.0.0.1', 4_096, () => say({ port: (provider.address() as AddressInfo).port }));
