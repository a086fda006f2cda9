import type { IncomingMessage } from 'node:http';
import { RelayError } from '../domain/relay-error.ts';
import { allProtocols, mainProtocols } from '../protocols/index.ts';
import type { Protocol } from '../protocols/protocol.ts';
import type { ErrorShape } from './error-response.ts';
import { isReading } from './reading-methods.ts';

/** A protocol, or the models that can be called. */
export type InferenceRoute = Protocol | ModelsRoute;

export interface ModelsRoute {
  /** Null for the list. */
  readonly modelId: string | null;
  readonly query: URLSearchParams;
  /** What the client speaks. */
  readonly protocol: Protocol;
}

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
  if (!isModels(path)) throw notServed(request, path);
  if (!isReading(request.method)) throw methodNotAllowed('GET, HEAD');
  return {
    modelId: path === MODELS ? null : decoded(path.slice(MODELS.length + 1)),
    query: queryOf(request),
    protocol: markedProtocol(request),
  };
}

export function isProtocol(route: InferenceRoute): route is Protocol {
  return 'operation' in route;
}

/** What the client of this request parses errors as: by its path, or by the headers that it sent to any other. */
export function errorShapeOf(request: IncomingMessage): ErrorShape {
  return PROTOCOLS.get(pathOf(request)) ?? markedProtocol(request);
}

/** The headers in which this request may carry a key, if not in `Authorization`. */
export function keyHeadersOf(request: IncomingMessage): readonly string[] {
  const path = pathOf(request);
  const protocol = PROTOCOLS.get(path) ?? (isModels(path) ? markedProtocol(request) : null);
  return protocol?.headers.keys ?? [];
}

/** The protocol whose clients send a header of their own, otherwise the usual one. */
function markedProtocol({ headers }: IncomingMessage): Protocol {
  const marked = Object.values(mainProtocols).find(
    ({ headers: { mark } }) => mark !== null && headers[mark] !== undefined,
  );
  return marked ?? mainProtocols.openai;
}

function isModels(path: string): boolean {
  return path === MODELS || path.startsWith(`${MODELS}/`);
}

/** Everything after the prefix is the id, because ids may contain slashes. It is only looked up, never used as a path. */
function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    throw new RelayError('invalid_request', {
      message: 'The model ID is not valid percent-encoding. Encode it as UTF-8.',
      param: 'model',
    });
  }
}

/** Names what is served, because clients try the paths of other products here. */
function notServed({ method = '' }: IncomingMessage, path: string): RelayError {
  const served = [...PROTOCOLS.keys(), MODELS].map((each) => each.slice('/v1/'.length));
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return new RelayError('route_not_found', {
    message: `Relay doesn’t serve ${method} ${shown}. Under /v1 it serves ${served.join(', ')}.`,
  });
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
    message: `Relay does not support WebSockets. Send POST ${path} over HTTP/1.1, with "stream": true for events.`,
    headers: { upgrade: 'HTTP/1.1', connection: 'upgrade, close' },
  });
}

function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  const query = url.indexOf('?');
  return new URLSearchParams(query < 0 ? '' : url.slice(query + 1));
}
