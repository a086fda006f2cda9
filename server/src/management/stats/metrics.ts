import type { Timeseries } from '@relay/contract';
import { quantileMs } from '../../domain/histogram.ts';
import { shownMicros } from '../../domain/money/money.ts';
import type { Histogram, Measured, Sum } from '../../store/ledger/rollups/read-series.ts';

export type Metric = Timeseries['metric'];

/** How a metric is computed from rollup sums. */
interface MetricDefinition {
  readonly sums: readonly Sum[];
  readonly histogram: Histogram | null;
  /** Null when there is nothing to measure; counts and sums are never null. */
  readonly value: (measured: Measured) => number | null;
}

const STATES: readonly Sum[] = ['requests_completed', 'requests_failed', 'requests_cancelled'];
const total = (numbers: readonly bigint[]) => numbers.reduce((sum, number) => sum + number, 0n);

const sumOf = (...sums: Sum[]): MetricDefinition => ({
  sums,
  histogram: null,
  value: (measured) => Number(total(measured.sums)),
});
const quantileOf = (histogram: Histogram, share: number): MetricDefinition => ({
  sums: STATES,
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
  cost_micros: {
    sums: ['cost_picos'],
    histogram: null,
    value: (measured) => shownMicros(total(measured.sums)),
  },
  wait_ms_p50: quantileOf('wait_histogram', 0.5),
  wait_ms_p95: quantileOf('wait_histogram', 0.95),
  latency_ms_p50: quantileOf('latency_histogram', 0.5),
  latency_ms_p95: quantileOf('latency_histogram', 0.95),
  ttft_ms: {
    sums: ['ttft_count', 'ttft_ms_sum'],
    histogram: null,
    value: ({ sums: [count = 0n, sumMs = 0n] }) =>
      count === 0n ? null : Math.round(Number(sumMs) / Number(count)),
  },
  fallback_rate: {
    sums: [...STATES, 'fallbacks'],
    histogram: null,
    value({ sums }) {
      const requests = Number(total(sums.slice(0, STATES.length)));
      const fallbacks = Number(sums[STATES.length] ?? 0);
      return requests === 0 ? null : Math.round((fallbacks / requests) * 10_000) / 10_000;
    },
  },
};

export const NOTHING: Measured = { sums: [], histogram: [] };

export function addMeasured(one: Measured, other: Measured): Measured {
  const places = Math.max(one.sums.length, other.sums.length);
  return {
    sums: Array.from({ length: places }, (_, place) => (one.sums[place] ?? 0n) + (other.sums[place] ?? 0n)),
    histogram: addEach(one.histogram, other.histogram),
  };
}

function addEach(one: readonly number[], other: readonly number[]): number[] {
  const length = Math.max(one.length, other.length);
  return Array.from({ length }, (_, place) => (one[place] ?? 0) + (other[place] ?? 0));
}
