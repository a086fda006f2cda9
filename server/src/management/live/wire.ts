import type { BoundPolicy, Live, LiveEndpoint, LiveLane } from '@relay/contract';
import type { LiveFlow } from '../../admission/live-flows.ts';
import type { LiveTraffic } from '../../admission/live-lanes.ts';
import type { Endpoint } from '../../domain/snapshot.ts';

type LaneQueue = LiveTraffic['lanes'][number];
type EndpointState = Pick<LiveEndpoint, 'health' | 'health_detail' | 'cooldown_until'>;

const NONE = { interactive: 0, standard: 0, batch: 0 };

/** Longest wait first, then most requests in flight. `limits` has those that requests wait for, by the engine's id. */
export function toLiveLanes(
  { flows, lanes: queues }: LiveTraffic,
  limits: ReadonlyMap<string, BoundPolicy>,
): LiveLane[] {
  const flowsOf = Map.groupBy(flows, ({ laneId }) => laneId);
  const queueOf = new Map(queues.map((queue) => [queue.laneId, queue]));
  const lanes = [...new Set([...flowsOf.keys(), ...queueOf.keys()])].map((laneId) => {
    const own = flowsOf.get(laneId) ?? [];
    const queue = queueOf.get(laneId);
    return {
      lane_id: laneId,
      waiting: sum(own, 'waiting'),
      waiting_by_priority: queue?.waiting ?? NONE,
      longest_wait_ms: Math.max(0, ...own.map(({ longestWaitMs }) => longestWaitMs)),
      next_slot_ms: queue?.nextSlotMs ?? null,
      limited_by: queue === undefined ? [] : toLiveLimits(queue, limits),
      in_flight: sum(own, 'inFlight'),
      fallbacks: queue?.fallbacks ?? 0,
      rejections: queue?.rejections ?? 0,
      endpoints: own
        .map(({ endpointId, waiting, inFlight }) => ({
          endpoint_id: endpointId,
          waiting,
          in_flight: inFlight,
        }))
        .toSorted((a, b) => (a.endpoint_id < b.endpoint_id ? -1 : 1)),
    };
  });
  return lanes.toSorted((a, b) => b.longest_wait_ms - a.longest_wait_ms || b.in_flight - a.in_flight);
}

const LIMITS_SHOWN = 3;

/** Those that are shown. */
export function limitsOf({ limits }: LaneQueue): LaneQueue['limits'] {
  return limits.slice(0, LIMITS_SHOWN);
}

function toLiveLimits(queue: LaneQueue, limits: ReadonlyMap<string, BoundPolicy>): LiveLane['limited_by'] {
  return limitsOf(queue).flatMap(({ limit, waiting }) => {
    const found = limits.get(limit.id);
    if (found === undefined) return [];
    const { resets_at: _resetsAt, ...named } = found;
    return { ...named, waiting };
  });
}

/** In configuration order. A deleted endpoint that still has requests has no limit and comes last. */
export function toLiveEndpoints(
  flows: readonly LiveFlow[],
  endpoints: ReadonlyMap<string, Endpoint>,
  stateOf: (endpointId: string) => EndpointState,
): Live['endpoints'] {
  const busy = Map.groupBy(flows, ({ endpointId }) => endpointId);
  const ids = new Set([...endpoints.keys(), ...busy.keys()]);
  return [...ids].flatMap((id) => {
    const own = busy.get(id) ?? [];
    const state = stateOf(id);
    if (own.length === 0 && (state.health === 'healthy' || state.health === 'unknown')) return [];
    return {
      endpoint_id: id,
      waiting: sum(own, 'waiting'),
      in_flight: sum(own, 'inFlight'),
      max_concurrency: endpoints.get(id)?.maxConcurrency ?? null,
      ...state,
    };
  });
}

function sum(flows: readonly LiveFlow[], of: 'waiting' | 'inFlight'): number {
  return flows.reduce((total, flow) => total + flow[of], 0);
}
