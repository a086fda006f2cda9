import type { Health, HealthDetail } from '@relay/contract';
import { durationWords } from '@relay/contract/words';
import type { HealthRecord, OpenBreaker } from './health-record.ts';
import { FORGOTTEN_MS, probeIntervalMs } from './health-report.ts';
import { COUNTED_MS, countsOf, isDegraded, SLOT_MS } from './health-slots.ts';

export interface SeenHealth {
  readonly health: Health;
  readonly detail: HealthDetail;
  readonly cooldownUntilMs: number | null;
}

/** What is known of an endpoint and of the credential that its requests are sent with. */
export interface KnownHealth {
  readonly endpoint: HealthRecord | null;
  readonly credential: HealthRecord | null;
  /** The end of its cooldown as admission knows it. */
  readonly cooldownUntilMs: number | null;
}

export const NOTHING_SEEN: SeenHealth = {
  health: 'unknown',
  detail: { reason: null, since: null, requests: 0, error_share: null, last_error: null },
  cooldownUntilMs: null,
};

/** The state of an endpoint in the words of the contract. Equal records give equal answers in every process. */
export function seenHealth(
  { endpoint, credential, cooldownUntilMs }: KnownHealth,
  nowMs: number,
): SeenHealth {
  const record = remembered(endpoint, nowMs);
  const untilMs = Math.max(cooldownUntilMs ?? 0, record?.cooldown?.untilMs ?? 0);
  const open = openBreakerOf({ endpoint, credential }, nowMs);
  const counted = {
    ...countedDetail(record, nowMs),
    last_error: lastErrorOf(record, remembered(credential, nowMs)),
  };
  if (open !== null)
    return {
      health: 'down',
      detail: { ...counted, reason: open.reason, since: timestamp(open.sinceMs) },
      cooldownUntilMs: untilMs > nowMs ? untilMs : null,
    };
  if (untilMs > nowMs) {
    const sinceMs = record?.cooldown?.sinceMs;
    const since = sinceMs === undefined ? null : timestamp(sinceMs);
    const reason = 'the provider asked for a pause';
    return { health: 'rate_limited', detail: { ...counted, reason, since }, cooldownUntilMs: untilMs };
  }
  if (record === null) return NOTHING_SEEN;
  return { ...levelOf(record, counted, nowMs), cooldownUntilMs: null };
}

/** The breaker that keeps an endpoint out of the order: its own, or that of its credential. */
export function openBreakerOf(
  { endpoint, credential }: Pick<KnownHealth, 'endpoint' | 'credential'>,
  nowMs: number,
): OpenBreaker | null {
  return remembered(endpoint, nowMs)?.open ?? remembered(credential, nowMs)?.open ?? null;
}

/** What people are told about an endpoint that is left out of the order. */
export function skipWords({ sinceMs, reason, failedProbes }: OpenBreaker, nowMs: number): string {
  const forMs = Math.max(1_000, Math.round((nowMs - sinceMs) / 1_000) * 1_000);
  const every = durationWords(probeIntervalMs(failedProbes));
  return `skipped: down for ${durationWords(forMs)}, ${reason}; Relay tries it again with a single request every ${every}`;
}

function remembered(record: HealthRecord | null, nowMs: number): HealthRecord | null {
  return record !== null && nowMs - record.seenMs < FORGOTTEN_MS ? record : null;
}

function countedDetail(
  record: HealthRecord | null,
  nowMs: number,
): Pick<HealthDetail, 'requests' | 'error_share'> {
  if (record === null) return { requests: 0, error_share: null };
  const { ended, failed } = countsOf(record.slots, COUNTED_MS, nowMs);
  return { requests: ended, error_share: ended === 0 ? null : round(failed / ended) };
}

function lastErrorOf(
  record: HealthRecord | null,
  credential: HealthRecord | null,
): HealthDetail['last_error'] {
  const [a, b] = [record?.lastError ?? null, credential?.open == null ? null : credential.lastError];
  const newest = a !== null && b !== null ? (a.atMs >= b.atMs ? a : b) : (a ?? b);
  return newest === null
    ? null
    : { at: timestamp(newest.atMs), message: newest.message, status: newest.status };
}

function levelOf(
  record: HealthRecord,
  counted: Omit<HealthDetail, 'reason' | 'since'>,
  nowMs: number,
): Pick<SeenHealth, 'health' | 'detail'> {
  const { level, slots, latestFailed } = record;
  if (!isDegraded(slots, latestFailed, nowMs)) {
    const sinceMs = level.degraded ? recoveredMs(record, nowMs) : level.sinceMs;
    return { health: 'healthy', detail: { ...counted, reason: null, since: timestamp(sinceMs) } };
  }
  const percent = Math.round((counted.error_share ?? 0) * 100);
  const reason =
    latestFailed && record.lastError !== null
      ? `the latest request failed: ${record.lastError.message}`
      : `${percent}% of requests failed in the last 5 minutes`;
  return { health: 'degraded', detail: { ...counted, reason, since: timestamp(level.sinceMs) } };
}

/** When the failures of the record became too old to count: the same moment for every reader. */
function recoveredMs({ slots, latestFailed, seenMs }: HealthRecord, nowMs: number): number {
  for (const { slot } of slots) {
    const endMs = (slot + 1) * SLOT_MS + COUNTED_MS;
    if (endMs > seenMs && endMs <= nowMs && !isDegraded(slots, latestFailed, endMs)) return endMs;
  }
  return seenMs;
}

function round(share: number): number {
  return Math.round(share * 1_000) / 1_000;
}

function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}
