import { accountRoutes } from './routes/account.ts';
import { deploymentRoutes } from './routes/deployment.ts';
import { guardrailRoutes } from './routes/guardrails.ts';
import { inferenceRoutes } from './routes/inference.ts';
import { limitRoutes } from './routes/limits.ts';
import { organizationRoutes } from './routes/organization.ts';
import { providerRoutes } from './routes/providers.ts';
import { routingRoutes } from './routes/routing.ts';
import { sessionRoutes } from './routes/session.ts';
import { usageRoutes } from './routes/usage.ts';

/** Every route of the interface, before access and shared errors are joined to it. */
export const routeTables = {
  ...inferenceRoutes,
  ...accountRoutes,
  ...sessionRoutes,
  ...organizationRoutes,
  ...providerRoutes,
  ...routingRoutes,
  ...guardrailRoutes,
  ...limitRoutes,
  ...usageRoutes,
  ...deploymentRoutes,
};

export type RouteTables = typeof routeTables;
export type RouteId = keyof RouteTables;
