import type { FlowsAsk, LiveFlow } from '../../admission/live-flows.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Handlers } from '../../http/call.ts';
import { endpointFields, type HealthDeps, readHealth } from '../endpoint-health.ts';
import { visibleUser } from '../requests/search.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { toLiveEndpoints, toLiveLanes } from './wire.ts';

type LiveDeps = HealthDeps & Pick<ManagementDeps, 'liveFlows'>;

/** Requests in flight. Nothing is stored: each request to this route queries the gateways. */
export function liveHandlers(deps: LiveDeps): Handlers {
  return {
    async getLive(call) {
      const { caller } = call;
      const { organizationId } = caller;
      const userId = visibleUser(caller);
      const snapshot = deps.snapshots.get(organizationId) ?? (await deps.snapshots.load(organizationId));
      const [flows, healthOf] = await Promise.all([
        readFlows(deps, { organizationId, userId }),
        readHealth(deps, organizationId, [...snapshot.endpoints.keys()]),
      ]);
      call.setHeader('cache-control', 'no-store');
      return {
        at: new Date(deps.clock.nowMs()).toISOString(),
        counted: userId === undefined ? 'organization' : 'own',
        lanes: toLiveLanes(flows),
        endpoints: toLiveEndpoints(flows, snapshot.endpoints, (id) => endpointFields(healthOf(id))),
      };
    },
  };
}

async function readFlows(deps: LiveDeps, ask: FlowsAsk): Promise<LiveFlow[]> {
  try {
    return await deps.liveFlows(ask);
  } catch (error) {
    if (!(error instanceof RelayError && error.code === 'store_unavailable')) throw error;
    // The database is available, so the error must not blame it.
    throw new RelayError('policy_unavailable', {
      message: "Requests in flight can't be read right now. Retry shortly.",
      internal: error.detail.internal ?? error.message,
      cause: error,
    });
  }
}
