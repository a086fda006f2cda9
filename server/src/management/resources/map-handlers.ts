import type { RouteId } from '@relay/contract';
import type { Handler, Handlers } from '../../http/call.ts';

/** A handler of any route. */
export type AnyHandler = Handler<RouteId>;

/** Wraps each handler. The casts are safe if the wrapper passes on the input and output of the same route. */
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
