import type { EndpointStats } from '@relay/contract';

type Spent = Pick<EndpointStats, 'cost_micros' | 'metered_requests' | 'unpriced_requests'>;

/** The mean over requests with a known cost. Null without any. */
export function costPerRequest(stats: Spent | undefined): number | null {
  if (stats === undefined || stats.cost_micros === null) return null;
  const priced = stats.metered_requests - stats.unpriced_requests;
  return priced <= 0 ? null : stats.cost_micros / priced;
}
