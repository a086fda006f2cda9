import type { LimitMetric, LimitPeriod } from '@relay/contract';
import { isSliding } from './period.ts';

/** What a limit adds up. The ledger keeps a sum of each quantity, so a lost window can be rebuilt from it. */
export type Quantity = 'requests' | 'tokens' | 'spend';

export interface MetricRule {
  readonly quantity: Quantity;
  /** True: counted while the request is in flight, with period `none`. False: added up over the limit's period. */
  readonly held: boolean;
  /** Whether pacing spaces the requests of a short window evenly instead of releasing them in a burst. */
  readonly paced: boolean;
}

/**
 * What each metric counts. Both engines follow this table; the Redis scripts read it as `metrics.lua`, which
 * `npm run generate` writes from it.
 */
export const METRICS: Readonly<Record<LimitMetric, MetricRule>> = {
  requests: { quantity: 'requests', held: false, paced: true },
  tokens: { quantity: 'tokens', held: false, paced: false },
  spend: { quantity: 'spend', held: false, paced: false },
  concurrency: { quantity: 'requests', held: true, paced: false },
};

/** What one request uses: estimated before it is dispatched, actual when it is settled. */
export interface UsedAmounts {
  readonly tokens: number;
  readonly spendMicros: number;
}

/** How much of a limit with this metric one request takes. */
export function amountOf(metric: LimitMetric, used: UsedAmounts): number {
  switch (METRICS[metric].quantity) {
    case 'requests':
      return 1;
    case 'tokens':
      return used.tokens;
    case 'spend':
      return used.spendMicros;
  }
}

/** True when every request takes the same from such a limit, so its charge does not depend on the estimate. */
export function isUnitCost(metric: LimitMetric): boolean {
  return METRICS[metric].quantity === 'requests';
}

export function isPaced({ metric, period }: { metric: LimitMetric; period: LimitPeriod }): boolean {
  return METRICS[metric].paced && isSliding(period);
}
