import { RoutingExplain, RoutingExplanation } from '../resources/routing.ts';
import type { RouteTable } from '../route-definition.ts';

export const routingRoutes = {
  explainRouting: {
    plane: 'management',
    tag: 'Routing lanes',
    method: 'POST',
    path: '/api/relay/routing/explain',
    access: { scope: 'relay:routing:read' },
    summary: 'Explain how an inference request would be routed now, without sending it',
    body: RoutingExplain,
    success: { status: 200, schema: RoutingExplanation },
    errors: ['policy_unavailable', 'queue_full', 'conflict', 'managed_by_file', 'not_found', 'name_taken'],
  },
} as const satisfies RouteTable;
