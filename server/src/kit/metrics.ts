import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';

/** What a metric is called and means; the labels are known beforehand and take few values. */
export type MetricDefinition = {
  readonly help: string;
  readonly labels?: readonly string[];
} & (
  | { readonly kind: 'counter' | 'gauge' }
  /** Upper bounds, ascending; what is above the last is counted as well. */
  | { readonly kind: 'histogram'; readonly bounds: readonly number[] }
);

export type Labels = Readonly<Record<string, string>>;

/** What a metric stands at: one number, one for each set of labels, a histogram, or nothing that could be said. */
export type Reading = number | null | readonly (readonly [Labels, number])[] | Tally;

/**
 * Counts how values spread over buckets. Taking a value costs a few steps through an array and makes nothing, so that it can be
 * done for every request.
 */
export interface Tally {
  readonly bounds: readonly number[];
  observe(value: number): void;
  /** How many fell into each bucket; one more than there are bounds. */
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

/** Where those who know a number say how to read it. Nothing is read before somebody asks for all of it. */
export interface Metrics {
  readonly contentType: string;
  register(name: string, definition: MetricDefinition, read: () => Reading): void;
  /** Everything in the text format of Prometheus. Whoever asks while it is written gets the same text. */
  text(): Promise<string>;
}

export function createMetrics(options: { readonly processMetrics: boolean }): Metrics {
  const registry = new Registry();
  // Event loop, memory, garbage collection and processor time, under the names that dashboards for Node know.
  if (options.processMetrics) collectDefaultMetrics({ register: registry });
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

interface Sample {
  readonly value: number;
  readonly labels: Labels;
  readonly metricName?: string;
}

/**
 * The registry asks a metric for its samples and writes them; the library's own metrics would keep the numbers a second
 * time, and looking one up by its labels costs a microsecond.
 */
function asMetric(name: string, definition: MetricDefinition, read: () => Reading): Metric {
  const head = { name, help: definition.help, type: definition.kind, aggregator: 'sum' };
  const metric = { ...head, get: async () => ({ ...head, values: samplesOf(name, read()) }) };
  return metric as unknown as Metric;
}

function samplesOf(name: string, reading: Reading): Sample[] {
  if (reading === null) return [];
  if (typeof reading === 'number') return [{ labels: {}, value: reading }];
  return 'observe' in reading
    ? histogramSamples(name, reading)
    : reading.map(([labels, value]) => ({ labels, value }));
}

function histogramSamples(name: string, { bounds, counts, sum }: Tally): Sample[] {
  let upTo = 0;
  const samples: Sample[] = counts.map((count, place) => {
    upTo += count;
    const bound = bounds[place];
    const labels = { le: bound === undefined ? '+Inf' : String(bound) };
    return { metricName: `${name}_bucket`, labels, value: upTo };
  });
  samples.push({ metricName: `${name}_sum`, labels: {}, value: sum() });
  samples.push({ metricName: `${name}_count`, labels: {}, value: upTo });
  return samples;
}
