import type { LimitMetric, TimeseriesQuery } from '@relay/contract';
import { formatCompact, formatCount, formatMoney } from '../format/numbers.ts';

interface MetricLook {
  /** Amounts are micro-USD, shown and typed as dollars. */
  readonly money: boolean;
  /** Counted while requests are in flight, so the limit has no period. */
  readonly held: boolean;
  /** The series of past usage; null where none is recorded. */
  readonly series: TimeseriesQuery['metric'] | null;
}

/** How the console shows each metric of a limit. */
export const metricLooks: Readonly<Record<LimitMetric, MetricLook>> = {
  requests: { money: false, held: false, series: 'requests' },
  tokens: { money: false, held: false, series: 'total_tokens' },
  spend: { money: true, held: false, series: 'cost_micros' },
  concurrency: { money: false, held: true, series: null },
};

/** An exact amount: "$50.00", "12,480". */
export function amountOf(metric: LimitMetric, value: number): string {
  return metricLooks[metric].money ? formatMoney(value) : formatCount(value);
}

/** The same for narrow places: "12.5K". */
export function shortAmountOf(metric: LimitMetric, value: number): string {
  return metricLooks[metric].money ? formatMoney(value) : formatCompact(value);
}
