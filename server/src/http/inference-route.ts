import type { IncomingMessage } from 'node:http';
import { RelayError } from '../domain/relay-error.ts';
import { allProtocols } from '../protocols/index.ts';
import type { Protocol } from '../protocols/protocol.ts';

export type InferenceRoute = Protocol | 'models';

const ROUTES = new Map<string, InferenceRoute>([
  ...allProtocols.map((protocol): [string, InferenceRoute] => [`/v1${protocol.path}`, protocol]),
  ['/v1/models', 'models'],
]);

/** What a request below `/v1/` asks for. Throws 404 or 405, which do not depend on the caller. */
export function inferenceRouteOf(request: IncomingMessage): InferenceRoute {
  const route = ROUTES.get(pathOf(request));
  if (route === undefined) throw new RelayError('route_not_found');
  const allowed = route === 'models' ? 'GET' : 'POST';
  if (request.method !== allowed) throw new RelayError('method_not_allowed', { headers: { allow: allowed } });
  return route;
}

/** The protocol of the request's path, for errors that its clients can parse; undefined for any other path. */
export function protocolOf(request: IncomingMessage): Protocol | undefined {
  const route = ROUTES.get(pathOf(request));
  return route === 'models' ? undefined : route;
}

function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}
