import { type IncomingMessage, request } from 'node:http';
import type { Fault } from './fault.ts';
import type { ProviderSim } from './simulator.ts';

/** What a plain HTTP client saw, whole or not; the tests judge the simulator by it. */
export interface Seen {
  /** 0 when no response head came. */
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
  text: string;
  /** Sizes of the pieces in which the body arrived. */
  chunks: number[];
  trailers: IncomingMessage['trailers'];
  informational: number[];
  /** False when the connection was lost before the body's end. */
  whole: boolean;
  error: string | null;
}

export interface Sending {
  method?: string;
  headers?: Record<string, string | string[]>;
  /** Aborts once this holds of the body so far; asked when the head has come and with every piece. */
  abortWhen?: (text: string) => boolean;
  /** Aborts once this is fulfilled, whatever has come by then. */
  abortAfter?: Promise<unknown>;
}

export const operations = {
  chat: {
    path: '/v1/chat/completions',
    body: { model: 'sim-chat', messages: [{ role: 'user', content: 'Hello.' }] },
  },
  responses: { path: '/v1/responses', body: { model: 'sim-chat', input: 'Hello.' } },
  embeddings: { path: '/v1/embeddings', body: { model: 'sim-embed', input: 'Hello.' } },
  messages: {
    path: '/v1/messages',
    body: { model: 'sim-claude', max_tokens: 4096, messages: [{ role: 'user', content: 'Hello.' }] },
  },
} as const;

export type Body = Buffer | string | Record<string, unknown> | null;

export function send(sim: ProviderSim, path: string, body: Body, sending: Sending = {}): Promise<Seen> {
  const bytes =
    body === null || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const headers = {
    authorization: 'Bearer test-key',
    'content-type': 'application/json',
    ...(path.startsWith('/v1/messages') ? { 'anthropic-version': '2023-06-01' } : {}),
    ...sending.headers,
  };
  const method = sending.method ?? 'POST';
  const seen: Seen = {
    status: 0,
    headers: {},
    body: Buffer.alloc(0),
    text: '',
    chunks: [],
    trailers: {},
    informational: [],
    whole: false,
    error: null,
  };
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    function finish(error: string | null): void {
      seen.body = Buffer.concat(chunks);
      seen.text = seen.body.toString();
      seen.error ??= error;
      resolve(seen);
    }
    const req = request(`${sim.url}${path}`, { method, headers, agent: false });
    void sending.abortAfter?.then(() => req.destroy());
    req.on('information', (info) => seen.informational.push(info.statusCode));
    req.on('upgrade', (res, socket) => {
      seen.status = res.statusCode ?? 0;
      socket.destroy();
      finish('upgraded');
    });
    req.on('error', (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
    req.on('response', (res) => {
      seen.status = res.statusCode ?? 0;
      seen.headers = res.headers;
      const abortIfTold = (): void => {
        if (sending.abortWhen?.(Buffer.concat(chunks).toString()) === true) req.destroy();
      };
      res.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        seen.chunks.push(chunk.length);
        abortIfTold();
      });
      abortIfTold();
      res.on('end', () => {
        seen.whole = res.complete;
        seen.trailers = res.trailers;
        finish(null);
      });
      res.on('error', (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
    });
    req.end(bytes ?? undefined);
  });
}

/** Sends an operation's plain body with a fault in it. */
export function sendFault(
  sim: ProviderSim,
  operation: keyof typeof operations,
  fault: Fault,
  extra: Record<string, unknown> = {},
  sending: Sending = {},
): Promise<Seen> {
  const { path, body } = operations[operation];
  return send(sim, path, { ...body, ...extra, sim: fault }, sending);
}
