import { allRoutes, type RouteId } from '@relay/contract';

/** The route of the contract that a request is for: to count what was called, never to judge it. */
export function routeOf(line: string): RouteId | null {
  const [method = '', path = ''] = line.split(' ');
  const known = managementRoutes.filter((route) => route.method === method && route.pattern.test(path));
  return known.toSorted((a, b) => a.parameters - b.parameters)[0]?.id ?? null;
}

const managementRoutes = allRoutes
  .filter(({ plane }) => plane === 'management')
  .map(({ id, method, path }) => ({
    id,
    method,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/?]+')}(?:\\?|$)`),
    parameters: path.split('{').length,
  }));
