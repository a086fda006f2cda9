export { checkValue, type Issue, type Validation } from './check-value.ts';
export * from './config-file.ts';
export { configSchemaText } from './config-schema.ts';
export * from './error-body.ts';
export * from './error-page.ts';
export * from './errors.ts';
export * from './headers.ts';
export { forecastOf, isEarly, tellingForecast, type UsedWindow } from './limit-forecast.ts';
export { buildOpenApi } from './openapi.ts';
export * from './passed-headers.ts';
export { coerceQuery, queryIssues } from './query.ts';
export type { ResourceDefinition, SectionDefinition } from './resource-definition.ts';
export { sectionNames } from './resource-list.ts';
export * from './resources/index.ts';
export { type Access, scopesOf, scopesSatisfy } from './route-access.ts';
export { routeAccess, selfHostedRoutes } from './route-access-table.ts';
export type { Method, Plane, RouteDefinition, RouteSuccess } from './route-definition.ts';
export type { RouteId } from './route-tables.ts';
export {
  allRoutes,
  type Route,
  type RouteBody,
  type RouteParams,
  type RouteQuery,
  type RouteResult,
  type Routes,
  routes,
} from './routes.ts';
export { type Schema, serverSetFields, volatileFields } from './schema.ts';
export * from './scopes.ts';
export { holdsShownSecret, showsSecret, withoutShownSecrets } from './shown-once.ts';
export { compileValidator, type Validator } from './validate.ts';
export { listsVersions, returnsVersion, versionRead } from './versions.ts';
export * from './what-if.ts';
