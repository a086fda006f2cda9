import type { EndpointTraffic } from '../../api/usage-queries.ts';

/** An endpoint's part of a lane's requests. */
export interface TrafficShare extends EndpointTraffic {
  /** Above 0, up to 1. */
  readonly share: number;
}

/** The endpoints that got requests: those of the lane by rank, then those that left it. Empty without requests. */
export function sharesOf(
  traffic: readonly EndpointTraffic[],
  ranked: readonly string[],
): readonly TrafficShare[] {
  const all = traffic.reduce((sum, { requests }) => sum + requests, 0);
  const rankOf = ({ endpointId }: EndpointTraffic) => {
    const rank = endpointId === null ? -1 : ranked.indexOf(endpointId);
    return rank < 0 ? ranked.length : rank;
  };
  return traffic
    .filter(({ requests }) => requests > 0)
    .map((each) => ({ ...each, share: each.requests / all }))
    .toSorted((a, b) => rankOf(a) - rankOf(b) || b.requests - a.requests);
}
