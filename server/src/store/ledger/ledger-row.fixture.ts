import { randomUUIDv7 } from 'node:crypto';
import type { LedgerRow } from './ledger-row.ts';

/** For tests: a completed request of a new organization, to be appended with `appendRequests`. */
export function sampleRow(over: Partial<LedgerRow> = {}): LedgerRow {
  return {
    request_id: randomUUIDv7(),
    organization_id: randomUUIDv7(),
    user_id: null,
    key_id: null,
    team_id: null,
    parent_team_id: null,
    labels: null,
    lane_id: null,
    endpoint_id: null,
    provider_id: null,
    credential_id: null,
    model: 'chat',
    upstream_model: 'model-1',
    client_request_id: null,
    operation: 'chat',
    streaming: false,
    state: 'completed',
    status: 200,
    error_code: null,
    bound_policy: null,
    attempts: [],
    trace: null,
    fallback_count: 0,
    wait_ms: 0,
    wait_budget_ms: null,
    ttft_ms: null,
    latency_ms: 12,
    estimated_input_tokens: 5,
    estimated_output_tokens: 5,
    estimated_cost_micros: 5,
    actual_input_tokens: 5,
    actual_cached_input_tokens: 0,
    actual_cache_write_5m_tokens: 0,
    actual_cache_write_1h_tokens: 0,
    actual_output_tokens: 5,
    actual_cost_micros: 2 ** 40,
    actual_cost_rounding_picos: 0,
    usage_source: 'reported',
    settled_at: new Date('2026-11-15T00:00:00.123Z'),
    ...over,
  };
}

type Attempt = LedgerRow['attempts'][number];

/** For tests: an attempt that was sent and told nothing of its use. */
export function sampleAttempt(over: Partial<Attempt> = {}): Attempt {
  return {
    endpoint_id: randomUUIDv7(),
    provider_id: randomUUIDv7(),
    upstream_model: 'model-1',
    status: 200,
    outcome: 'completed',
    cause: null,
    started_ms: 0,
    wait_ms: 0,
    latency_ms: 12,
    ...over,
  };
}

interface Targets {
  readonly endpoints: readonly string[];
  readonly providers: readonly string[];
  readonly credentials: readonly string[];
}

/** For tests: up to four attempts in every form that some version writes, also those that were not sent. */
export function randomAttempts(
  random: { readonly next: () => number; readonly pick: <T>(list: readonly T[]) => T },
  { endpoints, providers, credentials }: Targets,
): Attempt[] {
  const upTo = (most: number) => Math.floor(random.next() * most);
  const areTold = random.next() < 0.5;
  const timed = random.next() < 0.8;
  let startedMs = 0;
  return Array.from({ length: upTo(5) }, () => {
    startedMs += random.next() * 5_000;
    const isSent = random.next() < 0.8;
    const use: Attempt['use'] = {
      source: random.pick(['reported', 'streamed', 'estimated'] as const),
      input_tokens: upTo(1_000),
      output_tokens: upTo(1_000),
      ...(random.next() < 0.3 && { cached_input_tokens: upTo(100) }),
      cost_micros: random.pick([null, upTo(10_000)]),
      ...(random.next() < 0.5 && { cost_rounding_picos: upTo(1_000_000) }),
    };
    return sampleAttempt({
      endpoint_id: random.pick(endpoints),
      provider_id: random.pick(providers),
      started_ms: timed ? startedMs : null,
      latency_ms: random.next() * 4_000,
      outcome: 'failed',
      cause: isSent ? null : random.pick(['upstream_not_prepared', 'upstream_unreachable']),
      ...(!isSent && random.next() < 0.7 && { sent: false }),
      ...(areTold && isSent && random.next() < 0.7 && { use }),
      ...(random.next() < 0.3 && { credential_id: random.pick([...credentials, null]) }),
    });
  });
}
