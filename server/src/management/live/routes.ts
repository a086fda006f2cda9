import type { FlowsAsk, LiveFlow } from '../../admission/live-flows.ts';
import type { LiveTraffic } from '../../admission/live-lanes.ts';
import type { Caller } from '../../domain/caller.ts';
import { describeApplied } from '../../domain/limits/limit.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Handlers } from '../../http/call.ts';
import { endpointFields, type HealthDeps, readHealth } from '../endpoint-health.ts';
import { boundPolicies } from '../requests/bound-policies.ts';
import { visibleUser } from '../requests/search.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { isId } from '../resources/refusals.ts';
import { limitsOf, toLiveEndpoints, toLiveLanes } from './wire.ts';

type LiveDeps = HealthDeps & Pick<ManagementDeps, 'liveTraffic' | 'ofOrganization'>;

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
      const limits = await awaitedLimits(deps, caller, traffic);
      call.setHeader('cache-control', 'no-store');
      return {
        at: new Date(deps.clock.nowMs()).toISOString(),
        counted: userId === undefined ? 'organization' : 'own',
        lanes: toLiveLanes(traffic, limits),
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

/** The limits that requests wait for, by the engine's id. */
function awaitedLimits({ ofOrganization }: LiveDeps, caller: Caller, { lanes }: LiveTraffic) {
  const requests = lanes.flatMap(limitsOf).map(({ limit, userId }) => {
    const { id, policy_kind: kind, limit_value: _value, ...described } = describeApplied(limit);
    return {
      request_id: limit.id,
      user_id: userId,
      key_id: limit.counts.keyId,
      bound_policy: { ...described, policy_id: id, kind, resets_at: null },
    };
  });
  return boundPolicies(ofOrganization(caller.organizationId), caller, requests);
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
