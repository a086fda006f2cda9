import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { headers as headerNames } from '@relay/contract';
import { requireContract } from './response-faults.ts';

/** The bytes of a response, even of one that was cut off. */
export interface RawAnswer {
  readonly status: number;
  /** By lower-case name; several of one name are joined as HTTP joins them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** False when the connection broke before the body's end. */
  readonly whole: boolean;
}

export interface RawRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** A body that goes out in chunks, without its length being told first. */
  readonly unannounced?: Buffer;
  readonly agent?: Agent;
  /** Breaks the exchange off after this much silence, keeping what has arrived. */
  readonly silenceMsMax?: number;
}

const SILENCE_MS_MAX = 20_000;

/** One exchange without a client library. Rejects if no status line arrived, or if Relay's error is off the contract. */
export function exchangeRaw(asked: RawRequest): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = openRaw(asked);
    const silenceMsMax = asked.silenceMsMax ?? SILENCE_MS_MAX;
    outgoing.setTimeout(silenceMsMax, () => outgoing.destroy(new Error('silent for too long')));
    outgoing.on('error', reject);
    outgoing.once('response', (answer) => {
      // From here on `whole` reports a broken connection.
      outgoing.off('error', reject);
      outgoing.on('error', () => undefined);
      collect(answer)
        .then((received) => {
          requireErrorOfContract(asked, received);
          return received;
        })
        .then(resolve, reject);
    });
    outgoing.end(asked.body ?? asked.unannounced);
  });
}

function requireErrorOfContract({ url, method = 'POST' }: RawRequest, received: RawAnswer): void {
  const { status, headers, body, whole } = received;
  // A provider may send this header as well, which Relay does not pass on.
  if (!whole || status < 400 || headers[headerNames.errorSource] !== 'relay') return;
  const { pathname: path } = new URL(url);
  requireContract({ method, path, status, headers: new Headers(headers), text: body.toString() });
}

/** Opens a request with its head ready; the caller ends it, and may abort it. */
export function openRaw(asked: RawRequest): ClientRequest {
  const { url, method = 'POST', headers = {}, body, agent } = asked;
  return request(url, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    },
    ...(agent === undefined ? {} : { agent }),
  });
}

function collect(answer: IncomingMessage): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => chunks.push(chunk));
    // Every ending comes here: a clean end, a cut, a reset.
    answer.on('error', () => undefined);
    answer.once('close', () => {
      resolve({
        status: answer.statusCode ?? 0,
        headers: joined(answer.headers),
        body: Buffer.concat(chunks),
        whole: answer.complete,
      });
    });
  });
}

function joined(given: IncomingMessage['headers']): Record<string, string> {
  const list: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) list[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return list;
}

export function keepAliveAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 64 });
}
