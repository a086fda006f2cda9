import type { Endpoint, Live, LiveEndpoint } from '@relay/contract';

/** How an endpoint is right now, over all lanes. */
export interface EndpointLoad {
  readonly inFlightOfAll: number;
  readonly inFlightMax: number | null;
  readonly health: LiveEndpoint['health'];
  /** Why it is not healthy. */
  readonly reason: string | null;
  /** How long it has been in this state. */
  readonly forMs: number | null;
  readonly coolingMs: number | null;
}

/** The load of each endpoint, also of those that Live leaves out because they are idle. */
export function loadsOf(live: Live, endpoints: readonly Endpoint[]): (endpointId: string) => EndpointLoad {
  const nowMs = Date.parse(live.at);
  const stateOf = new Map(live.endpoints.map((state) => [state.endpoint_id, state]));
  const endpointOf = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
  return (id) => {
    const [state, endpoint] = [stateOf.get(id), endpointOf.get(id)];
    const until = state?.cooldown_until ?? null;
    const since = state?.health_detail.since ?? null;
    return {
      inFlightOfAll: state?.in_flight ?? 0,
      // The load is unknown if the caller sees only own requests.
      inFlightMax:
        live.counted === 'own' ? null : (state?.max_concurrency ?? endpoint?.max_concurrency ?? null),
      // Live lists every endpoint that is not healthy, and of the others those with requests.
      health: state?.health ?? (endpoint?.health === 'healthy' ? 'healthy' : 'unknown'),
      reason: state?.health_detail.reason ?? null,
      forMs: since === null ? null : Math.max(0, nowMs - Date.parse(since)),
      coolingMs: until === null ? null : Math.max(0, Date.parse(until) - nowMs),
    };
  };
}

/** At its limit, requests wait for it. */
export function isFull({ inFlightOfAll: count, inFlightMax: max }: EndpointLoad): boolean {
  return max !== null && count >= max;
}
