import { allRoutes, type Route } from './routes.ts';
import { propertiesOf, type Shape, shapeOf } from './schema-shape.ts';

/**
 * The read that returns the version that a write compares with `If-Match`, or null for a write that takes no `If-Match`. It is the GET
 * at the path of the write, or the nearest one above. A POST compares versions only where a GET of the same path lists what it changes.
 */
export function versionRead({ path, method, errors }: Route): Route | null {
  if (!errors.includes('version_conflict')) return null;
  for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const read = allRoutes.find((route) => route.method === 'GET' && route.path === at);
    if (read !== undefined || method === 'POST') return read ?? null;
  }
  return null;
}

/** Whether the version of each row is in its `etag`, because the route lists resources that no route reads alone. */
export function listsVersions({ success }: Route): boolean {
  if (success.schema === undefined) return false;
  const shapes = [success.schema, ...Object.values(propertiesOf(success.schema))].map(shapeOf);
  return shapes.some(({ items }: Shape) => items !== undefined && 'etag' in propertiesOf(items));
}

/** Whether a success of the route has an `ETag`: it reads, creates or changes one resource that `If-Match` protects. */
export function returnsVersion(route: Route): boolean {
  if (versionRead(route) !== null) return route.method !== 'DELETE';
  const isCreate = route.method === 'POST' && route.success.status === 201;
  return allRoutes.some((write) => {
    const read = versionRead(write);
    if (read === null) return false;
    return isCreate ? isAtOrBelow(route.path, write.path) : read.id === route.id && !listsVersions(read);
  });
}

function isAtOrBelow(collection: string, path: string): boolean {
  return path === collection || path.slice(0, path.lastIndexOf('/')) === collection;
}
