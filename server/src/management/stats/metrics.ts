import type { Timeseries } from '@relay/contract';
import { addCounts, quantileMs } from '../../domain/histogram.ts';
import { type Durations, NO_DURATIONS } from '../../store/ledger/rollups/read-durations.ts';
import type { Measured, Sum } from '../../store/ledger/rollups/read-series.ts';
import { shownSum } from '../resources/wire-cost.ts';

export type Metric = Timeseries['metric'];

/** How a metric is computed from rollup sums. */
interface MetricDefinition {
  readonly sums: readonly Sum[];
  /** Further sums, which follow in what is measured; groups are not ranked by them. */
  readonly beside: readonly Sum[];
  readonly histogram: Durations | null;
  /** Null when there is nothing to measure; counts and sums of anything but money are never null. */
  readonly value: (measured: Measured) => number | null;
}

const STATES: readonly Sum[] = ['requests_completed', 'requests_failed', 'requests_cancelled'];
const total = (numbers: readonly bigint[]) => numbers.reduce((sum, number) => sum + number, 0n);

const sumOf = (...sums: Sum[]): MetricDefinition => ({
  sums,
  beside: [],
  histogram: null,
  value: (measured) => Number(total(measured.sums)),
});
const costOf = (sum: Sum): MetricDefinition => ({
  sums: [sum],
  beside: ['priced_attempts', 'unpriced_attempts', 'unpriced_requests'],
  histogram: null,
  value: (measured) => moneyIn(measured).micros,
});
const quantileOf = (histogram: Durations, share: number): MetricDefinition => ({
  sums: STATES,
  beside: [],
  histogram,
  value: (measured) => quantileMs(measured.histogram, share),
});

export const METRICS: Readonly<Record<Metric, MetricDefinition>> = {
  requests: sumOf(...STATES),
  errors: sumOf('requests_failed'),
  input_tokens: sumOf('input_tokens'),
  output_tokens: sumOf('output_tokens'),
  cached_input_tokens: sumOf('cached_input_tokens'),
  total_tokens: sumOf('input_tokens', 'output_tokens'),
  cost_micros: costOf('cost_picos'),
  wait_ms_p50: quantileOf('wait', 0.5),
  wait_ms_p95: quantileOf('wait', 0.95),
  latency_ms_p50: quantileOf('latency', 0.5),
  latency_ms_p95: quantileOf('latency', 0.95),
  ttft_ms: {
    sums: ['ttft_count', 'ttft_ms_sum'],
    beside: [],
    histogram: null,
    value: ({ sums: [count = 0n, sumMs = 0n] }) =>
      count === 0n ? null : Math.round(Number(sumMs) / Number(count)),
  },
  fallback_rate: {
    sums: [...STATES, 'fallbacks'],
    beside: [],
    histogram: null,
    value({ sums }) {
      const requests = Number(total(sums.slice(0, STATES.length)));
      const fallbacks = Number(sums[STATES.length] ?? 0);
      return requests === 0 ? null : Math.round((fallbacks / requests) * 10_000) / 10_000;
    },
  },
  fallback_cost_micros: costOf('fallback_cost_picos'),
};

/** Metrics of money, of which series have the exact sums too. */
export function isMoney(metric: Metric): boolean {
  return metric === 'cost_micros' || metric === 'fallback_cost_micros';
}

/** What a metric of money comes to. Cost is of attempts, so they tell whether any of it has a price. */
export function moneyIn({ sums: [picos = 0n, priced = 0n, unpriced = 0n, requests = 0n] }: Measured) {
  const counts = { priced: Number(priced), unpriced: Number(unpriced) };
  return { ...shownSum(picos, counts), unpriced_requests: Number(requests) };
}

export const NOTHING: Measured = { sums: [], histogram: NO_DURATIONS };

/** The sum of many. Adds in place, because a long series has hundreds of thousands of bins. */
export function sumMeasured(parts: Iterable<Measured>): Measured {
  const sums: bigint[] = [];
  const counts = new Map<number, number>();
  const coarse: number[] = [];
  for (const part of parts) {
    for (const [place, sum] of part.sums.entries()) sums[place] = (sums[place] ?? 0n) + sum;
    for (const [place, count] of part.histogram.coarse.entries())
      coarse[place] = (coarse[place] ?? 0) + count;
    addCounts(counts, part.histogram.counts);
  }
  return { sums, histogram: { counts, coarse } };
}
