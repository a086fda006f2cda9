import type { EndpointStats } from '@relay/contract';

type Spent = Pick<EndpointStats, 'requests' | 'cost_micros'>;

/** The spend of an endpoint. Without a price, or where prices can’t be read, nothing spent is not known to be nothing. */
export function knownSpend(stats: Spent | undefined, isPriced: boolean): number | null {
  return stats === undefined || (!isPriced && stats.cost_micros === 0) ? null : stats.cost_micros;
}

/** The mean over all requests, also over those that failed. Null where it is unknown, and without requests. */
export function costPerRequest(stats: Spent | undefined, isPriced: boolean): number | null {
  const spent = knownSpend(stats, isPriced);
  return stats === undefined || spent === null || stats.requests === 0 ? null : spent / stats.requests;
}
