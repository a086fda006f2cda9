import Type from 'typebox';
import { ConfigApplyRequest, ConfigFile, ConfigPlan, ConfigPlanRequest } from '../config-file.ts';
import { configurationScopes } from '../resource-list.ts';
import { Capabilities, HealthReport, ProbeStatus } from '../resources/deployment.ts';
import type { RouteTable } from '../route-definition.ts';

const shared = { plane: 'management', tag: 'Deployment' } as const;
const operations = { plane: 'operations', tag: 'Operations' } as const;

export const deploymentRoutes = {
  getCapabilities: {
    ...shared,
    method: 'GET',
    path: '/api/relay/capabilities',
    access: 'any_key',
    summary: 'Read mode, version, features and the caller’s effective scopes',
    success: { status: 200, schema: Capabilities },
  },
  exportConfig: {
    ...shared,
    method: 'GET',
    path: '/api/relay/config/export',
    access: { everyScope: configurationScopes.read },
    summary: 'Export the configuration as a file, without secrets',
    success: { status: 200, schema: ConfigFile },
  },
  planConfig: {
    ...shared,
    method: 'POST',
    path: '/api/relay/config/plan',
    access: { everyScope: configurationScopes.read },
    summary: 'Show what applying a file would change',
    body: ConfigPlanRequest,
    success: { status: 200, schema: ConfigPlan },
    errors: ['conflict', 'mode_unsupported'],
  },
  applyConfig: {
    ...shared,
    method: 'POST',
    path: '/api/relay/config/apply',
    access: { everyScope: configurationScopes.manage },
    summary: 'Apply a file in one transaction; the file then manages those resources',
    body: ConfigApplyRequest,
    success: { status: 200, schema: ConfigPlan },
    errors: ['conflict', 'version_conflict', 'idempotency_conflict', 'mode_unsupported'],
  },
  getLiveness: {
    ...operations,
    method: 'GET',
    path: '/livez',
    access: 'public',
    summary: 'Check that the process is running',
    success: { status: 200, schema: ProbeStatus },
  },
  getReadiness: {
    ...operations,
    method: 'GET',
    path: '/readyz',
    access: 'public',
    summary: 'Check that the process accepts traffic',
    success: { status: 200, schema: HealthReport, otherStatuses: [503] },
  },
  getHealth: {
    ...operations,
    method: 'GET',
    path: '/healthz',
    access: 'public',
    summary: 'Report the state of every dependency',
    success: { status: 200, schema: HealthReport, otherStatuses: [503] },
  },
  getMetrics: {
    ...operations,
    method: 'GET',
    path: '/metrics',
    /** Of keys and sessions it knows nothing: its own token opens it, or being on the same machine. */
    access: 'public',
    summary:
      'Read this process’s metrics, with RELAY_METRICS_TOKEN as the bearer token or from the same machine',
    success: { status: 200, schema: Type.String(), contentType: 'text/plain' },
    errors: ['invalid_api_key', 'route_not_found'],
  },
  getOpenApi: {
    ...operations,
    method: 'GET',
    path: '/openapi.json',
    access: 'public',
    summary: 'Read the OpenAPI document',
    success: { status: 200, schema: Type.Record(Type.String(), Type.Unknown()) },
  },
  getReferenceIndex: {
    ...operations,
    method: 'GET',
    path: '/docs',
    access: 'public',
    summary: 'Read which errors and headers there are',
    success: { status: 200, schema: Type.String(), contentType: 'text/html' },
  },
  getErrorPage: {
    ...operations,
    method: 'GET',
    path: '/docs/errors/{code}',
    access: 'public',
    summary: 'Read what an error code means and how to fix it',
    params: Type.Object({ code: Type.String({ description: 'An error code, such as `queue_full`.' }) }),
    success: { status: 200, schema: Type.String(), contentType: 'text/html' },
  },
} as const satisfies RouteTable;
