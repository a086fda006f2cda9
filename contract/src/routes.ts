import type { Static, TSchema } from 'typebox';
import { type ErrorCode, errorCodes } from './errors.ts';
import type { Access } from './route-access.ts';
import type { RouteDefinition } from './route-definition.ts';
import { type RouteId, type RouteTables, routeTables } from './route-tables.ts';
import { propertiesOf, shapeOf } from './schema-shape.ts';
import { showsSecret } from './shown-once.ts';

export interface Joined {
  readonly id: RouteId;
  readonly access: Access;
  readonly errors: readonly ErrorCode[];
}

/** Any route, for code that treats all of them alike. */
export type Route = Omit<RouteDefinition, 'errors' | 'access'> & Joined;

export type Routes = {
  readonly [I in RouteId]: Omit<RouteTables[I], 'errors'> & Omit<Joined, 'id'> & { readonly id: I };
};

const authentication: readonly ErrorCode[] = [
  'missing_api_key',
  'invalid_api_key',
  'expired_api_key',
  'revoked_api_key',
  'product_access_denied',
  'entitlement_missing',
  'session_expired',
  'csrf_failed',
  /** The caller is suspended. */
  'permission_denied',
];

export const routes: Routes = joinRoutes();

export const allRoutes: readonly Route[] = Object.values(routes);

/** Static types of a handler's input and result; `undefined` where the route has none. */
export type RouteParams<I extends RouteId> = StaticOf<RouteTables[I], 'params'>;
export type RouteQuery<I extends RouteId> = StaticOf<RouteTables[I], 'query'>;
export type RouteBody<I extends RouteId> = RouteTables[I] extends { readonly rawBody: true }
  ? string
  : StaticOf<RouteTables[I], 'body'>;
export type RouteResult<I extends RouteId> = StaticOf<RouteTables[I]['success'], 'schema'>;

type StaticOf<T, K extends string> = T extends { readonly [P in K]: infer S extends TSchema }
  ? Static<S>
  : undefined;

function joinRoutes(): Routes {
  const entries = Object.entries<RouteDefinition>(routeTables).map(([id, definition]) => [
    id,
    { ...definition, id, errors: errorsOf(definition) },
  ]);
  return Object.fromEntries(entries) as Routes;
}

/** Whether a field of the body is the id of another resource. */
function namesResource(body: TSchema | undefined): boolean {
  if (body === undefined) return false;
  const { items } = shapeOf(body);
  const fields = Object.entries(propertiesOf(body));
  return (
    fields.some(([name, field]) => /_(id|uuid)$/.test(name) || namesResource(field)) || namesResource(items)
  );
}

/** The route’s own errors and those derived from its plane, access, params and body, in registry order. */
function errorsOf(route: RouteDefinition): ErrorCode[] {
  const { access } = route;
  const found = new Set<ErrorCode>(route.errors ?? []);
  if (route.selfHostedOnly === true) found.add('mode_unsupported');
  const add = (...codes: readonly ErrorCode[]) => {
    for (const code of codes) found.add(code);
  };
  add('internal_error');
  if (route.params !== undefined || namesResource(route.body)) add('not_found');
  // A path whose escapes cannot be decoded is refused before its parameter is looked at.
  const isRead = route.query !== undefined || route.params !== undefined;
  if (isRead || route.plane === 'management') add('invalid_request');
  const isRepeatable = route.errors?.includes('idempotency_conflict') === true;
  if (isRepeatable && showsSecret(route.success.schema)) add('secret_already_shown');
  if (route.body !== undefined) {
    add('invalid_json', 'invalid_request', 'body_too_large', 'unsupported_media_type', 'request_timeout');
  }
  if (access !== 'public') add(...authentication);
  // A page of another origin could otherwise sign its visitor in to an attacker's session.
  else if (route.plane === 'management' && route.method !== 'GET' && route.rawBody !== true)
    add('csrf_failed');
  if (typeof access === 'object' || access === 'session_only') add('insufficient_scope');
  if (route.plane !== 'operations') add('store_unavailable', 'draining');
  if (route.plane === 'management') add('not_implemented');
  if (route.plane === 'inference') add('configuration_unavailable', 'policy_unavailable', 'invalid_context');
  return errorCodes.filter((code) => found.has(code));
}
