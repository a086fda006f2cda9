// A process of its own: clients that send large bodies, and the provider that they reach, so that their work is not counted.
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

const BODY_BYTES = 20e6;
const UNITS = { nested: '{"a":1},', escaped: '\\"' } as const;

export type BodyKind = keyof typeof UNITS;
export interface Order {
  readonly url: string;
  readonly kind: BodyKind;
  readonly chunked: boolean;
  readonly clients: number;
}
/** Where the provider listens, then for each order the statuses. */
export type Word = { readonly port: number } | { readonly statuses: readonly number[] };

const say = (word: Word) => process.send?.(word);

function bodyOf(kind: BodyKind): Buffer {
  const many = UNITS[kind].repeat(BODY_BYTES / UNITS[kind].length);
  const [list, content] = kind === 'nested' ? [many, 'x'] : ['', many];
  return Buffer.from(
    `{"model":"chat","max_tokens":5,"z":[${list}1],"messages":[{"role":"user","content":"${content}"}]}`,
  );
}

function send({ url, kind, chunked }: Order): Promise<number> {
  const body = bodyOf(kind);
  const headers = chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': body.length };
  return new Promise((resolve) => {
    const sent = request(`${url}/v1/chat/completions`, { method: 'POST', headers }, (response) => {
      response.resume();
      response.on('close', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', () => resolve(0));
    sent.end(body);
  });
}

const provider = createServer((incoming, response) => {
  incoming.resume();
  incoming.on('end', () => response.setHeader('content-type', 'application/json').end('{"choices":[]}'));
});
process.on('message', (order: Order) => {
  const sent = Array.from({ length: order.clients }, () => send(order));
  void Promise.all(sent).then((statuses) => say({ statuses }));
});
process.on('disconnect', () => process.exit(0));
provider.listen(0, '127.0.0.1', () => say({ port: (provider.address() as AddressInfo).port }));
