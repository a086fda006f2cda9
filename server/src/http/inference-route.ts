import type { IncomingMessage } from 'node:http';
import { RelayError } from '../domain/relay-error.ts';
import { type Operation, operationPaths } from '../domain/routing/operation.ts';

export type InferenceRoute = Operation | 'models';

const ROUTES = new Map<string, InferenceRoute>([
  [`/v1${operationPaths.chat}`, 'chat'],
  [`/v1${operationPaths.responses}`, 'responses'],
  [`/v1${operationPaths.embeddings}`, 'embeddings'],
  ['/v1/models', 'models'],
]);

/** What a request below `/v1/` asks for; throws 404 or 405, which need to know nothing of the caller. */
export function inferenceRouteOf(request: IncomingMessage): InferenceRoute {
  const route = ROUTES.get(pathOf(request.url ?? ''));
  if (route === undefined) throw new RelayError('route_not_found');
  const allowed = route === 'models' ? 'GET' : 'POST';
  if (request.method !== allowed) throw new RelayError('method_not_allowed', { headers: { allow: allowed } });
  return route;
}

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}
