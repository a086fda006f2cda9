import type { EndpointStats } from '@relay/contract';

type Spent = Pick<EndpointStats, 'cost_micros' | 'metered_requests' | 'unpriced_requests'>;

/** The spend of one endpoint or of several. Nothing spent is unknown where requests had no price. */
export function knownSpend(stats: Spent | undefined): number | null {
  if (stats === undefined || (stats.cost_micros === 0 && stats.unpriced_requests > 0)) return null;
  return stats.cost_micros;
}

/** The mean over requests with a known cost. Null without any. */
export function costPerRequest(stats: Spent | undefined): number | null {
  if (stats === undefined) return null;
  const priced = stats.metered_requests - stats.unpriced_requests;
  return priced <= 0 ? null : stats.cost_micros / priced;
}
