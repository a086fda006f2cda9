import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';
import { routes } from '@relay/contract';
import { RelayError } from '../domain/relay-error.ts';
import type { Log } from '../kit/log.ts';
import type { Metrics } from '../kit/metrics.ts';
import type { Secret } from '../kit/secret.ts';
import { bearerOf } from './authenticate.ts';
import type { RequestHandler } from './listener.ts';
import { isReading } from './reading-methods.ts';
import { refuseRequest } from './refuse-request.ts';

export interface MetricsPageDeps {
  readonly metrics: Pick<Metrics, 'contentType' | 'text'>;
  /** The token of the scraper. Null: only clients on this machine may read metrics. */
  readonly token: Secret | null;
  readonly publicUrl: string;
  readonly log: Log;
}

/** A proxy on this machine forwards requests from elsewhere, and says so in these headers. */
const FORWARDING_HEADERS = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'];

/** Answers `GET` and `HEAD /metrics` and passes everything else on. */
export function createMetricsPage(deps: MetricsPageDeps, everythingElse: RequestHandler): RequestHandler {
  const mayLook = deps.token === null ? requireThisMachine : requireToken(deps.token);

  async function answer(...[request, response]: Parameters<RequestHandler>): Promise<void> {
    mayLook(request);
    const text = await deps.metrics.text();
    response.writeHead(200, {
      'content-type': deps.metrics.contentType,
      'cache-control': 'no-store',
      'content-length': String(Buffer.byteLength(text)),
    });
    response.end(text);
  }

  return (request, response, requestId) => {
    if (!isReading(request.method) || request.url?.split('?', 1)[0] !== routes.getMetrics.path) {
      everythingElse(request, response, requestId);
      return;
    }
    answer(request, response, requestId).catch((error: unknown) => {
      if (!(error instanceof RelayError))
        deps.log.error({ err: error, request_id: requestId }, 'could not write metrics');
      refuseRequest(request, response, error, { requestId, publicUrl: deps.publicUrl });
    });
  };
}

function requireToken(token: Secret): (request: IncomingMessage) => void {
  const expected = digest(token.reveal());
  return (request) => {
    const presented = bearerOf(request);
    if (presented !== null && timingSafeEqual(digest(presented), expected)) return;
    throw new RelayError(presented === null ? 'missing_api_key' : 'invalid_api_key', {
      message: 'Metrics require RELAY_METRICS_TOKEN. Send it as `Authorization: Bearer <token>`.',
    });
  };
}

function requireThisMachine({ socket, headers }: IncomingMessage): void {
  const isForwarded = FORWARDING_HEADERS.some((name) => headers[name] !== undefined);
  if (!isForwarded && isLoopback(socket.remoteAddress ?? '')) return;
  // 404, so that callers without access cannot tell that the page exists.
  throw new RelayError('route_not_found');
}

function isLoopback(address: string): boolean {
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'));
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
