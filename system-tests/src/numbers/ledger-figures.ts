import type { Timeseries } from '@relay/contract';
import type { LedgerView } from '../harness/ledger-view.ts';
import { SENT_ATTEMPTS } from '../harness/sent-attempts.ts';

/** Where something counts. */
interface Place {
  readonly lane_id: string | null;
  readonly endpoint_id: string | null;
  readonly provider_id: string | null;
  readonly user_id: string | null;
  readonly key_id: string | null;
  readonly upstream_model: string | null;
}

/** A row of the ledger, as SQL reads it. */
export interface LedgerRow extends Place {
  readonly request_id: string;
  readonly tag: string;
  readonly arrived_ms: number;
  readonly state: string;
  readonly metered: boolean;
  readonly fallback_count: number;
  readonly wait_ms: number;
  readonly wait_budget_ms: number | null;
  readonly latency_ms: number;
  readonly ttft_ms: number | null;
  /** In 10⁻¹² dollar. */
  readonly picos: string;
}

/** An attempt that was sent. */
export interface LedgerAttempt extends Place {
  readonly dispatched_ms: number;
  readonly is_followed: boolean;
  readonly metered: boolean;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly picos: string;
  /** At an endpoint without a price. */
  readonly unpriced: boolean;
}

/** Requests, and attempts, which need not be of the same requests: each counts at its own endpoint and time. */
export interface Counted {
  readonly rows: readonly LedgerRow[];
  readonly attempts: readonly LedgerAttempt[];
}

const PLACE = 'lane_id, endpoint_id, provider_id, user_id, key_id, upstream_model';
const ROWS = `
  select request_id, client_request_id as tag, ${PLACE},
    ('x' || left(replace(request_id::text, '-', ''), 12))::bit(48)::bigint as arrived_ms,
    state, usage_source <> 'none' as metered, fallback_count, wait_ms, wait_budget_ms, latency_ms, ttft_ms,
    (coalesce(actual_cost_micros, 0)::numeric * 1000000 - actual_cost_rounding_picos)::text as picos
  from requests`;
const ATTEMPTS = `
  select ${PLACE}, dispatched_ms, is_followed, source <> 'none' as metered, input_tokens, cached_input_tokens, output_tokens,
    (cost_micros::numeric * 1000000 - cost_rounding_picos)::text as picos,
    source <> 'none' and not exists (select from pricing_policies as price where price.endpoint_id = sent.endpoint_id) as unpriced
  from ${SENT_ATTEMPTS} as sent`;

export async function readCounted(ledger: LedgerView): Promise<Counted> {
  return {
    rows: await ledger.query<LedgerRow>(ROWS),
    attempts: await ledger.query<LedgerAttempt>(ATTEMPTS),
  };
}

type Metric = Timeseries['metric'];
type Measure = (counted: Counted) => number | null;

export const picosOf = (items: readonly { readonly picos: string }[]) =>
  items.reduce((sum, { picos }) => sum + BigInt(picos), 0n);
/** The sum in 10⁻¹² dollar; null if no attempt that used something has a price. */
export function pricedPicos(attempts: readonly LedgerAttempt[], summed = attempts): bigint | null {
  const metered = attempts.filter((attempt) => attempt.metered);
  return metered.length > 0 && metered.every(({ unpriced }) => unpriced) ? null : picosOf(summed);
}
const shownMicros = (picos: bigint | null) => (picos === null ? null : halfUp(picos));
const halfUp = (picos: bigint) => Number((picos + 500_000n) / 1_000_000n);
const sumOf = (attempts: readonly LedgerAttempt[], value: (attempt: LedgerAttempt) => number) =>
  attempts.reduce((sum, attempt) => sum + value(attempt), 0);
const meanOf = (values: readonly number[]) =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

/** By nearest rank; whole milliseconds up to a second and two significant digits above, which is all that pages show. */
function percentile(share: number, value: (row: LedgerRow) => number): Measure {
  return ({ rows }) => {
    const sorted = rows.map(value).sort((one, other) => one - other);
    const exact = sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1];
    if (exact === undefined) return null;
    const stepMs = exact <= 1_000 ? 1 : 10 ** (String(exact).length - 2);
    return Math.floor(exact / stepMs + 0.5) * stepMs;
  };
}

/** What each metric is: of requests, and for usage, of attempts. */
export const measures: Readonly<Record<Metric, Measure>> = {
  requests: ({ rows }) => rows.length,
  errors: ({ rows }) => rows.filter(({ state }) => state === 'failed').length,
  input_tokens: ({ attempts }) => sumOf(attempts, ({ input_tokens }) => input_tokens),
  output_tokens: ({ attempts }) => sumOf(attempts, ({ output_tokens }) => output_tokens),
  cached_input_tokens: ({ attempts }) => sumOf(attempts, ({ cached_input_tokens }) => cached_input_tokens),
  total_tokens: ({ attempts }) =>
    sumOf(attempts, ({ input_tokens, output_tokens }) => input_tokens + output_tokens),
  cost_micros: ({ attempts }) => shownMicros(pricedPicos(attempts)),
  wait_ms_p50: percentile(0.5, ({ wait_ms }) => wait_ms),
  wait_ms_p95: percentile(0.95, ({ wait_ms }) => wait_ms),
  latency_ms_p50: percentile(0.5, ({ latency_ms }) => latency_ms),
  latency_ms_p95: percentile(0.95, ({ latency_ms }) => latency_ms),
  ttft_ms({ rows }) {
    const mean = meanOf(rows.flatMap(({ ttft_ms }) => ttft_ms ?? []));
    return mean === null ? null : Math.round(mean);
  },
  fallback_rate({ rows }) {
    const mean = meanOf(rows.map(({ fallback_count }) => fallback_count));
    return mean === null ? null : Math.round(mean * 10_000) / 10_000;
  },
  fallback_cost_micros({ attempts }) {
    const followed = attempts.filter(({ is_followed }) => is_followed);
    return shownMicros(pricedPicos(attempts, followed));
  },
};

type GroupBy = Exclude<Timeseries['group_by'], 'none' | 'state' | 'service'>;

/** The group that a row or an attempt belongs to. */
export const groups: Readonly<Record<GroupBy, (place: Place) => string | null>> = {
  lane: ({ lane_id }) => lane_id,
  endpoint: ({ endpoint_id }) => endpoint_id,
  provider: ({ provider_id }) => provider_id,
  model: ({ upstream_model }) => upstream_model,
  api_key: ({ key_id }) => key_id,
  user: ({ user_id }) => user_id,
};

/** Those for which a condition holds. */
export function partOf({ rows, attempts }: Counted, isIn: (place: Place) => boolean): Counted {
  return { rows: rows.filter(isIn), attempts: attempts.filter(isIn) };
}

/** In a bucket of this size that starts then: requests by their arrival, attempts by their dispatch. */
export function bucketOf({ rows, attempts }: Counted, startMs: number, sizeMs: number): Counted {
  const isIn = (ms: number) => ms >= startMs && ms < startMs + sizeMs;
  return {
    rows: rows.filter(({ arrived_ms }) => isIn(arrived_ms)),
    attempts: attempts.filter(({ dispatched_ms }) => isIn(dispatched_ms)),
  };
}
