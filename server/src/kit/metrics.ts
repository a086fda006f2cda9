import { readFileSync } from 'node:fs';
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';

/** The help text, kind and labels of a metric. Labels are fixed and take few values. */
export type MetricDefinition = {
  readonly help: string;
  readonly labels?: readonly string[];
} & (
  | { readonly kind: 'counter' | 'gauge' }
  /** Upper bounds, ascending. Values above the last bound are counted too. */
  | { readonly kind: 'histogram'; readonly bounds: readonly number[] }
);

export type Labels = Readonly<Record<string, string>>;

/** The current value of a metric: a number or a histogram, one of them for each set of labels, or null when unknown. */
export type Reading = number | null | Tally | readonly (readonly [Labels, number | Tally])[];

/**
 * Counts values in buckets. Counting a value is a short loop without allocation, so that it can be done for every
 * request.
 */
export interface Tally {
  readonly bounds: readonly number[];
  observe(value: number): void;
  /** The count of each bucket; one bucket more than there are bounds. */
  readonly counts: readonly number[];
  sum(): number;
}

export function createTally(bounds: readonly number[]): Tally {
  const counts = new Array<number>(bounds.length + 1).fill(0);
  let sum = 0;
  return {
    bounds,
    counts,
    observe(value) {
      let place = 0;
      while (place < bounds.length && value > (bounds[place] ?? 0)) place += 1;
      counts[place] = (counts[place] ?? 0) + 1;
      sum += value;
    },
    sum: () => sum,
  };
}

/** Metrics by name, each with a function that reads its value. Nothing is read until a scraper asks. */
export interface Metrics {
  readonly contentType: string;
  register(name: string, definition: MetricDefinition, read: () => Reading): void;
  /** All metrics in Prometheus text format. Concurrent callers share one text. */
  text(): Promise<string>;
}

export function createMetrics(options: { readonly processMetrics: boolean }): Metrics {
  const registry = new Registry();
  // Event loop, memory, garbage collection and CPU time, under the names that Node dashboards use.
  if (options.processMetrics) {
    collectDefaultMetrics({ register: registry });
    // The library reads the limit once; an operator can change the limit of a process that runs.
    registry.removeSingleMetric(FILES_MAX);
    registry.registerMetric(
      asMetric(FILES_MAX, { kind: 'gauge', help: 'Maximum number of open file descriptors.' }, filesMax),
    );
  }
  let writing: Promise<string> | null = null;
  return {
    contentType: registry.contentType,
    register(name, definition, read) {
      registry.registerMetric(asMetric(name, definition, read));
    },
    text() {
      writing ??= registry.metrics().finally(() => {
        writing = null;
      });
      return writing;
    },
  };
}

const FILES_MAX = 'process_max_fds';

/** Null where the system does not tell, or sets no limit. */
function filesMax(): number | null {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? null : Number(limit);
  } catch {
    return null;
  }
}

interface Sample {
  readonly value: number;
  readonly labels: Labels;
  readonly metricName?: string;
}

/**
 * The registry asks a metric for its samples and writes them. The library's own metric classes would keep every number twice
 * and take a microsecond for each look-up by labels.
 */
function asMetric(name: string, definition: MetricDefinition, read: () => Reading): Metric {
  const head = { name, help: definition.help, type: definition.kind, aggregator: 'sum' };
  const metric = { ...head, get: async () => ({ ...head, values: samplesOf(name, read()) }) };
  return metric as unknown as Metric;
}

function samplesOf(name: string, reading: Reading): Sample[] {
  if (reading === null) return [];
  if (typeof reading === 'number') return [{ labels: {}, value: reading }];
  if ('observe' in reading) return histogramSamples(name, {}, reading);
  return reading.flatMap(([labels, value]) =>
    typeof value === 'number' ? [{ labels, value }] : histogramSamples(name, labels, value),
  );
}

function histogramSamples(name: string, own: Labels, { bounds, counts, sum }: Tally): Sample[] {
  let upTo = 0;
  const samples: Sample[] = counts.map((count, place) => {
    upTo += count;
    const bound = bounds[place];
    const labels = { le: bound === undefined ? '+Inf' : String(bound), ...own };
    return { metricName: `${name}_bucket`, labels, value: upTo };
  });
  samples.push({ metricName: `${name}_sum`, labels: own, value: sum() });
  samples.push({ metricName: `${name}_count`, labels: own, value: upTo });
  return samples;
}
