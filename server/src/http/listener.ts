import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { headers } from '@relay/contract';
import { RelayError } from '../domain/relay-error.ts';
import { endUnread } from './end-unread.ts';
import { errorResponse } from './error-response.ts';
import { answerProbe, type Health } from './health.ts';
import { createServer } from './node-http.ts';
import { createUnreadableRefusal, refuseTunnel } from './refuse-unreadable.ts';

/**
 * What one connection buffers before its sender is paused. Node's 64 KiB, on top of the 64 KiB that each side may be reading,
 * would make a slow reader of a fast stream cost too much memory.
 */
const SOCKET_BYTES_MAX = 16 * 1024;
const KEEP_ALIVE_MS = 75_000;
/** How long the last answers of a process may take to reach their clients. */
const PARTING_MS = 1_000;
/** One turn of the event loop accepts connections, the next one reads them; the first may already be past its reading. */
const TURNS_TO_READ = 4;

export type RequestHandler = (request: IncomingMessage, response: ServerResponse, requestId: string) => void;

export interface ListenerOptions {
  readonly newRequestId: () => string;
  readonly health: () => Health;
  /** Requests below `/v1/`; absent in a process without that role. */
  readonly inference: RequestHandler | null;
  readonly everythingElse: RequestHandler;
  /** The address of this deployment, for links in errors. */
  readonly publicUrl: string;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

export interface Listener {
  readonly address: string;
  /** Requests that were received and are not completely answered yet. */
  openRequests(): number;
  /** Every answer whose head is not sent yet, and every later one, asks its client to close the connection. */
  startLeaving(): void;
  /** Resolves when every request that had reached this machine before the call is open: what still lay unread would be reset. */
  received(): Promise<void>;
  /**
   * Waits for open requests, then closes. Until then new requests are still accepted, so that clients that have not noticed
   * get an answer instead of a refused connection. Requests that are still open at the deadline are cut off: `cutOff` tells
   * them, and their last words have a second to reach their clients.
   */
  drain(timeoutMs: number, cutOff?: () => void): Promise<{ cut: number }>;
}

export async function listen(address: ListenAddress, options: ListenerOptions): Promise<Listener> {
  const open = createOpenRequests();
  const handle = requestHandler(options, open);
  const server = createServer(
    {
      headersTimeout: options.headersTimeoutMs,
      requestTimeout: options.requestTimeoutMs,
      connectionsCheckingInterval: 1_000,
      noDelay: true,
      highWaterMark: SOCKET_BYTES_MAX,
      // Checked by the handler, so that the error has the shape of every other.
      requireHostHeader: false,
    },
    handle,
  );
  server.on('checkContinue', handle);
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const message = 'Relay supports only Expect: 100-continue. Remove the Expect header.';
    refuseHead(options, request, response, 417, message);
  });
  server.on('clientError', createUnreadableRefusal(options));
  server.on('connect', (_request, socket) => refuseTunnel(socket, options));
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await bind(server, address);

  return {
    address: addressOf(server),
    openRequests: open.count,
    startLeaving: open.startLeaving,
    received,
    async drain(timeoutMs, cutOff = () => undefined) {
      open.startLeaving();
      const endMs = performance.now() + timeoutMs;
      do {
        await open.drained(endMs - performance.now());
        await received();
      } while (open.count() > 0 && performance.now() < endMs);
      const cut = open.count();
      // Closes idle connections. A request that has arrived on another one meanwhile is answered.
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      cutOff();
      const timer = setTimeout(() => server.closeAllConnections(), PARTING_MS);
      await closed;
      clearTimeout(timer);
      return { cut };
    },
  };
}

interface OpenRequests {
  add(response: ServerResponse): void;
  count(): number;
  startLeaving(): void;
  /** Resolves when no request is open, at the latest after the timeout. */
  drained(timeoutMs: number): Promise<void>;
}

function createOpenRequests(): OpenRequests {
  const open = new Set<ServerResponse>();
  let leaving = false;
  let idle: (() => void) | null = null;
  function closed(this: ServerResponse): void {
    open.delete(this);
    if (open.size === 0) idle?.();
  }
  return {
    add(response) {
      open.add(response);
      response.once('close', closed);
      if (leaving) askToClose(response);
    },
    count: () => open.size,
    startLeaving() {
      leaving = true;
      for (const response of open) askToClose(response);
    },
    async drained(timeoutMs) {
      if (open.size === 0) return;
      const timer = new Promise<void>((resolve) => setTimeout(resolve, timeoutMs).unref());
      await Promise.race([new Promise<void>((resolve) => (idle = resolve)), timer]);
    },
  };
}

async function received(): Promise<void> {
  for (let turn = 0; turn < TURNS_TO_READ; turn += 1) await setImmediate();
}

function askToClose(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

/** Answers probes, and 400 without a Host header; passes every other request on under a new request id. */
function requestHandler(options: ListenerOptions, open: OpenRequests) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    request.url = withoutTrailingSlash(originForm(request.url ?? '/'));
    if (answerProbe(request, response, options.health)) return;
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      const message = 'The request has no Host header, which HTTP/1.1 requires. Send one.';
      refuseHead(options, request, response, 400, message);
      return;
    }
    const requestId = options.newRequestId();
    open.add(response);
    if (options.inference !== null && request.url.startsWith('/v1/')) {
      options.inference(request, response, requestId);
      return;
    }
    response.setHeader(headers.requestId, requestId);
    // Inference sends 100 Continue itself, once it wants the body.
    if (request.headers.expect !== undefined) response.writeContinue();
    options.everythingElse(request, response, requestId);
  };
}

/** For requests that Node's parser accepts and HTTP forbids. */
function refuseHead(
  options: ListenerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  message: string,
): void {
  const error = new RelayError('invalid_request', { message });
  const context = { requestId: options.newRequestId(), publicUrl: options.publicUrl };
  const { headers: list, body } = errorResponse(error, context);
  list['content-length'] = String(Buffer.byteLength(body));
  list['connection'] = 'close';
  response.writeHead(status, list);
  endUnread(request, response, body);
}

/** A client may send the complete URL in its request line, as to a proxy; only the path counts. */
function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const authority = /^https?:\/\/[^/?#]*/i.exec(url)?.[0];
  if (authority === undefined) return url;
  const rest = url.slice(authority.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * `/v1/models/` is `/v1/models`. Both roles of a hosted deployment do this to one request, so doing it twice must change
 * nothing: of two slashes none is removed.
 */
function withoutTrailingSlash(url: string): string {
  if (!BELOW_A_PLANE.test(url)) return url;
  const query = url.indexOf('?');
  const end = query < 0 ? url.length : query;
  if (url[end - 1] !== '/' || url[end - 2] === '/') return url;
  return url.slice(0, end - 1) + url.slice(end);
}

const BELOW_A_PLANE = /^\/(?:v1|api)\/[^?]/;

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

function bind(server: Server, address: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function addressOf(server: Server): string {
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the listener is not bound to a port');
  const { address, family, port } = bound;
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`;
}

/** Fails as listening there would, before anything else is started. */
export async function demandFree(address: { readonly host: string; readonly port: number }): Promise<void> {
  const probe = createServer();
  probe.listen(address);
  await once(probe, 'listening');
  probe.close();
  await once(probe, 'close');
}
