import { type Candidate, routingTableOf } from '../../domain/routing/routing.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Exchange, RoutedRequest } from '../exchange.ts';
import { candidatesFor, routeRequest } from './route-request.ts';

export interface Rerouted {
  readonly routed: RoutedRequest;
  /** Those that were not tried yet. */
  readonly candidates: readonly Candidate[];
}

/**
 * A request may wait for an hour, and meanwhile its endpoint is deleted or its lane disabled. Null while the candidate is
 * still offered; otherwise the request on the newest configuration. Throws like `routeRequest`.
 */
export function routeAgain(
  newest: OrganizationSnapshot,
  exchange: Exchange,
  routed: RoutedRequest,
  candidate: Candidate,
): Rerouted | null {
  if (newest.version <= exchange.snapshot.version) return null;
  if (isOffered(newest, exchange, routed, candidate)) return null;
  exchange.snapshot = newest;
  const { route, candidates } = routeRequest(exchange, routed.body);
  const tried = new Set(exchange.attempts.map(({ endpointId }) => endpointId));
  return {
    routed: { ...routed, route },
    candidates: candidates.filter(({ endpoint }) => !tried.has(endpoint.id)),
  };
}

function isOffered(
  newest: OrganizationSnapshot,
  exchange: Exchange,
  { body }: RoutedRequest,
  { endpoint }: Candidate,
): boolean {
  const route = routingTableOf(newest).resolve(body.model);
  if (route === undefined) return false;
  return candidatesFor(exchange, body, route).some((each) => each.endpoint.id === endpoint.id);
}
