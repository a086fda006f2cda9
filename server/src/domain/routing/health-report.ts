import { isShareTooHigh, isWorseThanPoison } from './breaker-rule.ts';
import type { FaultRow, HealthRecord, HealthReport, OpenBreaker } from './health-record.ts';
import { isDegraded, withCounts } from './health-slots.ts';

/** Without an attempt for this long, nothing is known. */
export const FORGOTTEN_MS = 15 * 60_000;
const PROBE_MS_FIRST = 1_000;
const PROBE_MS_MAX = 5_000;

/** The record after a report. A record of another configuration, or one that is too old, counts for nothing. */
export function afterReport(
  known: HealthRecord | null,
  of: string,
  report: HealthReport,
  nowMs: number,
): HealthRecord {
  const before = known?.of === of && nowMs - known.seenMs < FORGOTTEN_MS ? known : freshRecord(of, nowMs);
  const slots = withCounts(before.slots, report, nowMs);
  const okMs = later(before.okMs, report.ok?.atMs ?? null);
  const row = rowAfter(before, report);
  const opened = before.open === null ? openedBy({ ...before, slots, okMs, row }, report, nowMs) : null;
  const open = before.open === null ? opened : stillOpen(before.open, report, nowMs);
  const closes = before.open !== null && open === null;
  const latestFailed = report.latestFailed ?? before.latestFailed;
  const degraded = isDegraded(slots, latestFailed, nowMs);
  return {
    of,
    seenMs: Math.max(before.seenMs, nowMs),
    slots,
    latestFailed,
    row: closes ? null : row,
    okMs,
    open,
    closedMs: closes ? nowMs : before.closedMs,
    cooldown: cooldownAfter(before.cooldown, report.cooldownUntilMs, nowMs),
    level: degraded === before.level.degraded && !closes ? before.level : { degraded, sinceMs: nowMs },
    lastError: report.error ?? before.lastError,
  };
}

function freshRecord(of: string, nowMs: number): HealthRecord {
  return {
    of,
    seenMs: nowMs,
    slots: [],
    latestFailed: false,
    row: null,
    okMs: null,
    open: null,
    closedMs: null,
    cooldown: null,
    level: { degraded: false, sinceMs: nowMs },
    lastError: null,
  };
}

function rowAfter(before: HealthRecord, { ok, faults }: HealthReport): FaultRow | null {
  const known = before.row !== null && ok !== null && ok.atMs >= before.row.firstMs ? null : before.row;
  if (faults === null || faults.sentMs < (before.closedMs ?? 0)) return known;
  const { count, hard, firstMs, lastMs, caller } = faults;
  if (known === null) return { count, hard, firstMs, lastMs, caller };
  return {
    count: known.count + count,
    hard: known.hard + hard,
    firstMs: Math.min(known.firstMs, firstMs),
    lastMs: Math.max(known.lastMs, lastMs),
    caller: known.caller === caller ? caller : null,
  };
}

function openedBy(
  seen: Pick<HealthRecord, 'slots' | 'okMs' | 'row' | 'closedMs'>,
  { faults, error }: HealthReport,
  nowMs: number,
): OpenBreaker | null {
  if (faults === null || faults.sentMs < (seen.closedMs ?? 0)) return null;
  const opens = isWorseThanPoison(seen, faults.othersOkMs) || isShareTooHigh(seen.slots, faults, nowMs);
  if (!opens) return null;
  const reason = error?.message ?? 'requests are failing';
  return { sinceMs: nowMs, reason, failedProbes: 0, probeDueMs: nowMs + PROBE_MS_FIRST };
}

/** One success closes it. The request must have been sent since: an answer that was in flight proves nothing. */
function stillOpen(open: OpenBreaker, report: HealthReport, nowMs: number): OpenBreaker | null {
  if (report.ok !== null && report.ok.sentMs >= open.sinceMs) return null;
  const reason = report.error?.message ?? open.reason;
  if (!report.probeFailed) return reason === open.reason ? open : { ...open, reason };
  const failedProbes = open.failedProbes + 1;
  return { ...open, reason, failedProbes, probeDueMs: nowMs + probeIntervalMs(failedProbes) };
}

/** How long after this many failed probes the next one follows. */
export function probeIntervalMs(failedProbes: number): number {
  return Math.min(PROBE_MS_MAX, PROBE_MS_FIRST * 2 ** Math.min(failedProbes, 10));
}

/**
 * How long a probe may wait for the first byte, at most. A short time keeps the client of a probe from waiting for an endpoint
 * that hangs; it grows, because a slow answer is not a failure and must be given its time in the end.
 */
export function probeHeadersMsMax(failedProbes: number): number {
  return 5_000 * 2 ** Math.min(failedProbes, 10);
}

function cooldownAfter(
  known: HealthRecord['cooldown'],
  untilMs: number | null,
  nowMs: number,
): HealthRecord['cooldown'] {
  if (untilMs === null) return known;
  if (known === null || known.untilMs <= nowMs) return { sinceMs: nowMs, untilMs };
  return { sinceMs: known.sinceMs, untilMs: Math.max(known.untilMs, untilMs) };
}

function later(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
