import type { IncomingMessage } from 'node:http';
import { RelayError } from '../domain/relay-error.ts';
import { allProtocols } from '../protocols/index.ts';
import type { Protocol } from '../protocols/protocol.ts';
import { isReading } from './reading-methods.ts';

/** A protocol, the list of models, or one of them. */
export type InferenceRoute = Protocol | 'models' | { readonly modelId: string };

const PROTOCOLS = new Map(allProtocols.map((protocol) => [`/v1${protocol.path}`, protocol]));
const MODELS = '/v1/models';

/** What a request below `/v1/` asks for. Throws 404, 405 or 426, which do not depend on the caller. */
export function inferenceRouteOf(request: IncomingMessage): InferenceRoute {
  const path = pathOf(request);
  const protocol = PROTOCOLS.get(path);
  if (protocol !== undefined) {
    if (request.method === 'POST') return protocol;
    throw asksForWebSocket(request) ? upgradeRequired(path) : methodNotAllowed('POST');
  }
  if (path !== MODELS && !path.startsWith(`${MODELS}/`)) throw new RelayError('route_not_found');
  if (!isReading(request.method)) throw methodNotAllowed('GET, HEAD');
  return path === MODELS ? 'models' : { modelId: decoded(path.slice(MODELS.length + 1)) };
}

export function isProtocol(route: InferenceRoute): route is Protocol {
  return typeof route === 'object' && 'operation' in route;
}

/** The protocol of the request's path, for errors that its clients can parse; undefined for any other path. */
export function protocolOf(request: IncomingMessage): Protocol | undefined {
  return PROTOCOLS.get(pathOf(request));
}

/** Everything after the prefix is the id, because ids may contain slashes. It is only looked up, never used as a path. */
function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    throw new RelayError('invalid_request', {
      message: 'The id of the model is not valid percent-encoding. Encode it as UTF-8.',
      param: 'model',
    });
  }
}

function methodNotAllowed(allow: string): RelayError {
  return new RelayError('method_not_allowed', { headers: { allow } });
}

function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && /\bwebsocket\b/i.test(headers.upgrade ?? '');
}

/**
 * Clients that prefer WebSockets, such as Codex, use HTTP from then on. The connection is closed, because what follows on it may
 * be frames and no requests.
 */
function upgradeRequired(path: string): RelayError {
  return new RelayError('upgrade_required', {
    message: `Relay serves no WebSockets. Send POST ${path} over HTTP/1.1, with "stream": true for events.`,
    headers: { upgrade: 'HTTP/1.1', connection: 'upgrade, close' },
  });
}

function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}
