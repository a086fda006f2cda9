import type { FlowsAsk, LiveFlow } from '../../admission/live-flows.ts';
import type { LiveTraffic } from '../../admission/live-lanes.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Handlers } from '../../http/call.ts';
import { endpointFields, type HealthDeps, readHealth } from '../endpoint-health.ts';
import { visibleUser } from '../requests/search.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { isId } from '../resources/refusals.ts';
import { toLiveEndpoints, toLiveLanes } from './wire.ts';

type LiveDeps = HealthDeps & Pick<ManagementDeps, 'liveTraffic'>;

/** Requests in flight. Nothing is stored: each request to this route queries the gateways. */
export function liveHandlers(deps: LiveDeps): Handlers {
  return {
    async getLive(call) {
      const { caller, query } = call;
      const { organizationId } = caller;
      const userId = visibleUser(caller);
      const snapshot = deps.snapshots.get(organizationId) ?? (await deps.snapshots.load(organizationId));
      const keyId = query.api_key_id?.toLowerCase();
      const reading = readTraffic(deps, { organizationId, userId, keyId });
      const endpoints =
        keyId === undefined ? snapshot.endpoints : usedBy((await reading).flows, snapshot.endpoints);
      const [traffic, healthOf] = await Promise.all([
        reading,
        readHealth(deps, organizationId, [...endpoints.keys()]),
      ]);
      call.setHeader('cache-control', 'no-store');
      return {
        at: new Date(deps.clock.nowMs()).toISOString(),
        counted: userId === undefined ? 'organization' : 'own',
        lanes: toLiveLanes(traffic),
        endpoints: toLiveEndpoints(traffic.flows, endpoints, (id) => endpointFields(healthOf(id))),
      };
    },
  };
}

/** Of one key, only what it uses: a dialog that waits for a request asks every second. */
function usedBy<Value>(
  flows: readonly LiveFlow[],
  endpoints: ReadonlyMap<string, Value>,
): Map<string, Value> {
  const used = new Set(flows.map(({ endpointId }) => endpointId));
  return new Map([...endpoints].filter(([id]) => used.has(id)));
}

async function readTraffic(deps: LiveDeps, ask: FlowsAsk): Promise<LiveTraffic> {
  if (ask.keyId !== undefined && !isId(ask.keyId)) return { flows: [], lanes: [] };
  try {
    return await deps.liveTraffic(ask);
  } catch (error) {
    if (!(error instanceof RelayError && error.code === 'store_unavailable')) throw error;
    // The database is available, so the error must not blame it.
    throw new RelayError('policy_unavailable', {
      message: 'Live traffic is unavailable. Retry shortly.',
      internal: error.detail.internal ?? error.message,
      cause: error,
    });
  }
}
