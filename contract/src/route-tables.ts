import { resourceRoutes } from './resource-list.ts';
import type { RouteTable } from './route-definition.ts';
import { accountRoutes } from './routes/account.ts';
import { deploymentRoutes } from './routes/deployment.ts';
import { inferenceRoutes } from './routes/inference.ts';
import { organizationRoutes } from './routes/organization.ts';
import { routingRoutes } from './routes/routing.ts';
import { sessionRoutes } from './routes/session.ts';
import { usageRoutes } from './routes/usage.ts';
import { whatIfRoutes } from './routes/what-if.ts';
import type { Scope } from './scopes.ts';

/** Every route of the interface, before shared errors are joined to it. A route may name only scopes that exist. */
export const routeTables = {
  ...inferenceRoutes,
  ...accountRoutes,
  ...sessionRoutes,
  ...organizationRoutes,
  ...resourceRoutes,
  ...routingRoutes,
  ...usageRoutes,
  ...deploymentRoutes,
  ...whatIfRoutes,
} satisfies RouteTable<Scope>;

export type RouteTables = typeof routeTables;
export type RouteId = keyof RouteTables;
