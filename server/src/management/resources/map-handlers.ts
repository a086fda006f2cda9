import type { RouteId } from '@relay/contract';
import type { Handler, Handlers } from '../../http/call.ts';

/** A handler of any route. */
export type AnyHandler = Handler<RouteId>;

/** The handlers, each wrapped. What a wrapper passes on it gets from the same route, so the types stay true. */
export function mapHandlers(
  handlers: Handlers,
  wrap: (handler: AnyHandler, route: RouteId) => AnyHandler,
): Handlers {
  const wrapped = Object.entries(handlers).map(([route, handler]) => [
    route,
    wrap(handler as unknown as AnyHandler, route as RouteId),
  ]);
  return Object.fromEntries(wrapped);
}
