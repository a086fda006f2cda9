import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { headers } from '@relay/contract';
import { answerProbe, type HealthReport } from './health.ts';

export type RequestHandler = (request: IncomingMessage, response: ServerResponse, requestId: string) => void;

export interface ListenerOptions {
  readonly newRequestId: () => string;
  readonly health: () => HealthReport;
  /** Requests below `/v1/`; absent in a process without that role. */
  readonly inference: RequestHandler | null;
  readonly everythingElse: RequestHandler;
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

  const server = createServer(
    {
      headersTimeout: options.headersTimeoutMs,
      requestTimeout: options.requestTimeoutMs,
      connectionsCheckingInterval: 1_000,
      noDelay: true,
    },
    (request, response) => {
      if (answerProbe(request, response, options.health)) return;
      const requestId = options.newRequestId();
      openRequests += 1;
      response.once('close', () => {
        openRequests -= 1;
        if (openRequests === 0) idle?.();
      });
      if (draining) response.setHeader('connection', 'close');
      if (options.inference !== null && request.url?.startsWith('/v1/') === true) {
        options.inference(request, response, requestId);
        return;
      }
      response.setHeader(headers.requestId, requestId);
      options.everythingElse(request, response, requestId);
    },
  );
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
