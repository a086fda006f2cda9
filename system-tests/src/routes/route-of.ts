import type { RouteId } from '@relay/contract';
import { routeFor } from '../harness/response-faults.ts';

/** The management route that serves a request such as `GET /api/account`; null if the contract has none. */
export function routeOf(line: string): RouteId | null {
  const [method = '', path = ''] = line.split(' ');
  const route = routeFor(method, path);
  return route?.plane === 'management' ? route.id : null;
}
