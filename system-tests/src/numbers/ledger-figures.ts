import type { Timeseries } from '@relay/contract';
import type { LedgerView } from '../harness/ledger-view.ts';

/** A row of the ledger, as SQL reads it. */
export interface LedgerRow {
  readonly request_id: string;
  readonly tag: string;
  readonly arrived_ms: number;
  readonly lane_id: string | null;
  readonly endpoint_id: string | null;
  readonly provider_id: string | null;
  readonly user_id: string | null;
  readonly key_id: string | null;
  readonly upstream_model: string | null;
  readonly state: string;
  readonly metered: boolean;
  readonly fallback_count: number;
  readonly dispatches: number;
  readonly wait_ms: number;
  readonly wait_budget_ms: number | null;
  readonly latency_ms: number;
  readonly ttft_ms: number | null;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  /** In 10⁻¹² dollar. */
  readonly picos: string;
}

const ROWS = `
  select request_id, client_request_id as tag,
    ('x' || left(replace(request_id::text, '-', ''), 12))::bit(48)::bigint as arrived_ms,
    lane_id, endpoint_id, provider_id, user_id, key_id, upstream_model, state, usage_source <> 'none' as metered, fallback_count,
    jsonb_array_length(attempts) as dispatches,
    wait_ms, wait_budget_ms, latency_ms, ttft_ms,
    coalesce(actual_input_tokens, 0) as input_tokens, coalesce(actual_cached_input_tokens, 0) as cached_input_tokens,
    coalesce(actual_output_tokens, 0) as output_tokens,
    (coalesce(actual_cost_micros, 0)::numeric * 1000000 - actual_cost_rounding_picos)::text as picos
  from requests`;

export function readRows(ledger: LedgerView): Promise<LedgerRow[]> {
  return ledger.query<LedgerRow>(ROWS);
}

type Metric = Timeseries['metric'];
type Measure = (rows: readonly LedgerRow[]) => number | null;

export const picosOf = (rows: readonly LedgerRow[]) =>
  rows.reduce((sum, { picos }) => sum + BigInt(picos), 0n);
export const halfUp = (picos: bigint) => Number((picos + 500_000n) / 1_000_000n);
const sumOf = (rows: readonly LedgerRow[], value: (row: LedgerRow) => number) =>
  rows.reduce((sum, row) => sum + value(row), 0);
const meanOf = (values: readonly number[]) =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

/** By nearest rank; whole milliseconds up to a second and two significant digits above, which is all that pages show. */
function percentile(share: number, value: (row: LedgerRow) => number): Measure {
  return (rows) => {
    const sorted = rows.map(value).sort((one, other) => one - other);
    const exact = sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1];
    if (exact === undefined) return null;
    const stepMs = exact <= 1_000 ? 1 : 10 ** (String(exact).length - 2);
    return Math.floor(exact / stepMs + 0.5) * stepMs;
  };
}

/** What each metric is, computed from rows. */
export const measures: Readonly<Record<Metric, Measure>> = {
  requests: (rows) => rows.length,
  errors: (rows) => rows.filter(({ state }) => state === 'failed').length,
  input_tokens: (rows) => sumOf(rows, ({ input_tokens }) => input_tokens),
  output_tokens: (rows) => sumOf(rows, ({ output_tokens }) => output_tokens),
  cached_input_tokens: (rows) => sumOf(rows, ({ cached_input_tokens }) => cached_input_tokens),
  total_tokens: (rows) => sumOf(rows, ({ input_tokens, output_tokens }) => input_tokens + output_tokens),
  cost_micros: (rows) => halfUp(picosOf(rows)),
  wait_ms_p50: percentile(0.5, ({ wait_ms }) => wait_ms),
  wait_ms_p95: percentile(0.95, ({ wait_ms }) => wait_ms),
  latency_ms_p50: percentile(0.5, ({ latency_ms }) => latency_ms),
  latency_ms_p95: percentile(0.95, ({ latency_ms }) => latency_ms),
  ttft_ms(rows) {
    const mean = meanOf(rows.flatMap(({ ttft_ms }) => ttft_ms ?? []));
    return mean === null ? null : Math.round(mean);
  },
  fallback_rate(rows) {
    const mean = meanOf(rows.map(({ fallback_count }) => fallback_count));
    return mean === null ? null : Math.round(mean * 10_000) / 10_000;
  },
};

type GroupBy = Exclude<Timeseries['group_by'], 'none' | 'state' | 'service'>;

/** The group that a row belongs to. */
export const groups: Readonly<Record<GroupBy, (row: LedgerRow) => string | null>> = {
  lane: ({ lane_id }) => lane_id,
  endpoint: ({ endpoint_id }) => endpoint_id,
  provider: ({ provider_id }) => provider_id,
  model: ({ upstream_model }) => upstream_model,
  api_key: ({ key_id }) => key_id,
  user: ({ user_id }) => user_id,
};
