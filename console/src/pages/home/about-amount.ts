import type { LimitMetric } from '@relay/contract';
import { formatMoneyShort } from '../../format/numbers.ts';
import { amountOf, metricLooks } from '../../parts/limit-metrics.ts';

/** What is used or left of a limit. Below 10 cents, money has two digits. */
export function aboutOf(metric: LimitMetric, value: number): string {
  return metricLooks[metric].money ? formatMoneyShort(value) : amountOf(metric, value);
}
