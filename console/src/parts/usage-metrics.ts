import type { UsageMetric } from '../address/usage-search.ts';
import {
  formatCompact,
  formatCount,
  formatDuration,
  formatMoney,
  formatMoneyShort,
  formatShare,
} from '../format/numbers.ts';
import { text } from '../text/index.ts';

const words = text.usage;

/** How the console shows a metric. */
export interface MetricLook {
  readonly label: string;
  readonly unit: string;
  readonly format: (value: number) => string;
  /** Short, for an axis. */
  readonly formatTick: (value: number) => string;
  /** Rounded to comparable digits. */
  readonly formatShort: (value: number) => string;
  /** Instead of a value that is null. */
  readonly none: string;
  /** Whether values add up; medians and rates do not. */
  readonly adds: boolean;
  readonly isMoney: boolean;
}

const count = {
  format: formatCount,
  formatShort: formatCount,
  formatTick: formatCompact,
  none: text.charts.empty,
  adds: true,
  isMoney: false,
} as const;
const tokens = { ...count, unit: words.units.tokens } as const;
const duration = {
  unit: words.units.duration,
  format: formatDuration,
  formatShort: formatDuration,
  formatTick: formatDuration,
  none: text.charts.empty,
  adds: false,
  isMoney: false,
} as const;

const money = {
  unit: words.units.cost,
  format: formatMoney,
  formatShort: formatMoneyShort,
  formatTick: formatMoneyShort,
  none: text.unpriced.noPrice,
  adds: true,
  isMoney: true,
} as const;

const LOOKS: Readonly<Record<UsageMetric, Omit<MetricLook, 'label'>>> = {
  requests: { ...count, unit: words.units.requests },
  errors: { ...count, unit: words.units.errors },
  input_tokens: tokens,
  output_tokens: tokens,
  cached_input_tokens: tokens,
  total_tokens: tokens,
  cost_micros: money,
  wait_ms_p50: duration,
  wait_ms_p95: duration,
  latency_ms_p50: duration,
  latency_ms_p95: duration,
  ttft_ms: duration,
  fallback_rate: {
    unit: words.units.fallback_rate,
    format: formatShare,
    formatShort: formatShare,
    formatTick: formatShare,
    none: text.charts.empty,
    adds: false,
    isMoney: false,
  },
  fallback_cost_micros: money,
};

export function metricLook(metric: UsageMetric): MetricLook {
  return { ...LOOKS[metric], label: words.metrics[metric] };
}
