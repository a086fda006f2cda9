import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { headers } from '@relay/contract';
import { RelayError } from '../domain/relay-error.ts';
import { endUnread } from './end-unread.ts';
import { errorResponse } from './error-response.ts';
import { answerProbe, type HealthReport } from './health.ts';
import { createUnreadableRefusal } from './refuse-unreadable.ts';

/**
 * What may wait in a connection's own buffer before its sender is told to stop. Node's 64 KiB, on top of the
 * 64 KiB of a read under way on either side, would make a slow reader of a fast stream cost too much.
 */
const SOCKET_BYTES_MAX = 16 * 1024;

export type RequestHandler = (request: IncomingMessage, response: ServerResponse, requestId: string) => void;

export interface ListenerOptions {
  readonly newRequestId: () => string;
  readonly health: () => HealthReport;
  /** Requests below `/v1/`; absent in a process without that role. */
  readonly inference: RequestHandler | null;
  readonly everythingElse: RequestHandler;
  /** Where this deployment answers, for links in errors. */
  readonly publicUrl: string;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

export interface Listener {
  readonly address: string;
  /** Requests that have been received and not yet answered in full. */
  openRequests(): number;
  /**
   * Waits for open requests, then closes. New ones are still accepted meanwhile, so that whoever has not
   * noticed yet gets an answer instead of a refused connection; whatever is left at the deadline is cut.
   */
  drain(timeoutMs: number): Promise<{ cut: number }>;
}

export async function listen(address: ListenAddress, options: ListenerOptions): Promise<Listener> {
  let openRequests = 0;
  let draining = false;
  let idle: (() => void) | null = null;

  function handle(request: IncomingMessage, response: ServerResponse): void {
    request.url = originForm(request.url ?? '/');
    if (answerProbe(request, response, options.health)) return;
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      refuseHead(
        request,
        response,
        400,
        'The request has no Host header, which HTTP/1.1 requires. Send one.',
      );
      return;
    }
    const requestId = options.newRequestId();
    openRequests += 1;
    response.once('close', () => {
      openRequests -= 1;
      if (openRequests === 0) idle?.();
    });
    if (draining) response.setHeader('connection', 'close');
    if (options.inference !== null && request.url.startsWith('/v1/')) {
      options.inference(request, response, requestId);
      return;
    }
    response.setHeader(headers.requestId, requestId);
    // Inference asks for the body itself, once it knows that it wants it.
    if (request.headers.expect !== undefined) response.writeContinue();
    options.everythingElse(request, response, requestId);
  }

  /** What the parser lets through and HTTP does not. */
  function refuseHead(
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

  const server = createServer(
    {
      headersTimeout: options.headersTimeoutMs,
      requestTimeout: options.requestTimeoutMs,
      connectionsCheckingInterval: 1_000,
      noDelay: true,
      highWaterMark: SOCKET_BYTES_MAX,
      // Checked here, so that the refusal looks like every other.
      requireHostHeader: false,
    },
    handle,
  );
  server.on('checkContinue', handle);
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    refuseHead(request, response, 417, 'The only expectation that can be met is 100-continue. Leave it out.');
  });
  server.on('clientError', createUnreadableRefusal(options));
  server.keepAliveTimeout = 75_000;
  await bind(server, address);

  return {
    address: addressOf(server),
    openRequests: () => openRequests,
    async drain(timeoutMs) {
      draining = true;
      if (openRequests > 0) {
        const timer = new Promise<void>((resolve) => setTimeout(resolve, timeoutMs).unref());
        await Promise.race([new Promise<void>((resolve) => (idle = resolve)), timer]);
      }
      const cut = openRequests;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      return { cut };
    },
  };
}

/** A client may name the whole address in its request line, as if this were a proxy; only the path counts here. */
function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const authority = /^https?:\/\/[^/?#]*/i.exec(url)?.[0];
  if (authority === undefined) return url;
  const rest = url.slice(authority.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

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
  const { address, family, port } = server.address() as AddressInfo;
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`;
}
