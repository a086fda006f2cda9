/** Where requests of the history went, with what they cost there. */
export interface HistoryRoute {
  readonly laneId: string;
  readonly model: string;
  readonly endpointId: string;
  readonly providerId: string;
  readonly credentialId: string | null;
  readonly upstreamModel: string;
  readonly inputMicrosPer1m: number;
  readonly outputMicrosPer1m: number;
}

export interface HistoryCaller {
  readonly keyId: string | null;
  readonly userId: string | null;
}

/** A row of the ledger, by the names of its columns. */
export type HistoryRow = Readonly<Record<string, unknown>>;

const HOUR_MS = 3_600_000;
export const HISTORY_DAYS = 30;
/** How much of its peak each hour of a day in UTC sees. */
const RHYTHM = [2, 1, 1, 1, 2, 3, 6, 12, 20, 26, 28, 25, 20, 24, 28, 27, 23, 17, 12, 9, 7, 6, 4, 3];
/** Causes of failures, with the status that clients got. */
const FAILURES = [
  { cause: 'upstream_timeout', status: 502 },
  { cause: 'upstream_status_503', status: 503 },
  { cause: 'rate_limit_wait_budget_exceeded', status: 429 },
] as const;

/** Thirty days of requests: busy by day, quiet at night and on weekends, slowly growing, with one incident. */
export function* historyRows(
  organizationId: string,
  routes: readonly HistoryRoute[],
  callers: readonly HistoryCaller[],
  untilMs: number,
): Generator<HistoryRow> {
  const random = randomFrom(20_261_115);
  const hours = HISTORY_DAYS * 24;
  for (let hour = hours; hour > 0; hour -= 1) {
    const startMs = untilMs - hour * HOUR_MS;
    const date = new Date(startMs);
    const weekend = date.getUTCDay() % 6 === 0 ? 0.35 : 1;
    const growth = 0.6 + (0.9 * (hours - hour)) / hours;
    const busy = ((RHYTHM[date.getUTCHours()] ?? 1) / 28) * weekend * growth;
    const bad = hour > 50 && hour <= 54;
    const count = Math.round(busy * (15 + 8 * random())) + (random() < busy ? 1 : 0);
    for (let index = 0; index < count; index += 1)
      yield rowAt(startMs + random() * HOUR_MS, { organizationId, routes, callers, busy, bad, random });
  }
}

interface Setting {
  readonly organizationId: string;
  readonly routes: readonly HistoryRoute[];
  readonly callers: readonly HistoryCaller[];
  /** From 0 to about 1: the busier, the longer the wait. */
  readonly busy: number;
  readonly bad: boolean;
  readonly random: () => number;
}

function rowAt(timeMs: number, setting: Setting): HistoryRow {
  const { random } = setting;
  const route = pick(setting.routes, random() ** 1.8);
  const caller = pick(setting.callers, random() ** 1.6);
  const fate = random();
  const failed = fate < (setting.bad ? 0.3 : 0.025);
  const state = failed ? 'failed' : fate > 0.99 ? 'cancelled' : 'completed';
  const fellBack = !failed && random() < (setting.bad ? 0.3 : 0.04);
  const waitMs = random() < setting.busy * 0.35 ? Math.round(80 + 2_400 * setting.busy * random() ** 3) : 0;
  const ttftMs = Math.round(120 + 500 * random() ** 2);
  const latencyMs = waitMs + ttftMs + Math.round(300 + 3_500 * random() ** 3);
  const input = Math.round(600 + 13_000 * random() ** 2);
  const output = state === 'completed' ? Math.round(60 + 1_800 * random() ** 2) : 0;
  const cost = Math.ceil((input * route.inputMicrosPer1m + output * route.outputMicrosPer1m) / 1_000_000);
  const { status, cause } = failed ? pick(FAILURES, random()) : { status: 200, cause: null };
  const target = {
    endpoint_id: route.endpointId,
    provider_id: route.providerId,
    upstream_model: route.upstreamModel,
  };
  const attempt = {
    ...target,
    cause,
    status,
    outcome: state,
    wait_ms: waitMs,
    latency_ms: latencyMs - waitMs,
  };
  const refused = {
    ...attempt,
    cause: 'upstream_rate_limited',
    status: 429,
    outcome: 'failed',
    latency_ms: 40,
  };
  const attempts = fellBack
    ? [
        { ...refused, started_ms: waitMs + 2 },
        { ...attempt, started_ms: waitMs + 44 },
      ]
    : [{ ...attempt, started_ms: waitMs + 2 }];
  return {
    request_id: requestIdAt(timeMs, random),
    organization_id: setting.organizationId,
    user_id: caller.userId,
    key_id: caller.keyId,
    lane_id: route.laneId,
    credential_id: route.credentialId,
    ...target,
    model: route.model,
    operation: 'chat',
    streaming: random() < 0.4,
    state,
    status,
    error_code: cause,
    attempts,
    trace: traceOf(route.endpointId, { waitMs, ttftMs, latencyMs }),
    fallback_count: fellBack ? 1 : 0,
    wait_ms: waitMs,
    ttft_ms: state === 'completed' ? ttftMs : null,
    latency_ms: latencyMs,
    estimated_input_tokens: input,
    estimated_output_tokens: output + 60,
    estimated_cost_micros: Math.ceil(cost * 1.15),
    actual_input_tokens: input,
    actual_cached_input_tokens: Math.round(input * random() * 0.4),
    actual_output_tokens: output,
    actual_cost_micros: cost,
    usage_source: 'reported',
    settled_at: new Date(timeMs + latencyMs).toISOString(),
  };
}

function traceOf(
  endpointId: string,
  { waitMs, ttftMs, latencyMs }: { waitMs: number; ttftMs: number; latencyMs: number },
) {
  return {
    timings: {
      receive_ms: 1,
      route_ms: 0,
      guard_ms: null,
      admit_ms: 1,
      wait_ms: waitMs,
      upstream_first_byte_ms: waitMs + ttftMs - 4,
      first_content_ms: waitMs + ttftMs,
      total_ms: latencyMs,
    },
    candidates: [
      {
        endpoint_id: endpointId,
        rank: 1,
        verdict: 'selected',
        reason: 'it is free now, and comes first by rank',
        wait_ms: waitMs,
      },
    ],
    guardrails: [],
  };
}

/** The smallest id of a moment is where its day begins. */
export function smallestIdAt(timeMs: number): string {
  const hex = Math.floor(timeMs).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

function requestIdAt(timeMs: number, random: () => number): string {
  const digits = (count: number) =>
    Math.floor(random() * 16 ** count)
      .toString(16)
      .padStart(count, '0');
  return `${smallestIdAt(timeMs).slice(0, 14)}7${digits(3)}-8${digits(3)}-${digits(12)}`;
}

function pick<T>(from: readonly T[], at: number): T {
  const found = from[Math.min(from.length - 1, Math.floor(at * from.length))];
  if (found === undefined) throw new Error('there is nothing to choose from');
  return found;
}

/** The same numbers every time, so that pictures of two days can be compared. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
