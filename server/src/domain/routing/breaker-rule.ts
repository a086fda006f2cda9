import type { HealthRecord, ReportedFaults } from './health-record.ts';
import { countsOf, type HealthSlot, isWithin, SHARE_MS } from './health-slots.ts';

/** So many faults in a row open the breaker. */
const ROW_MIN = 3;
/** How recent a success must be to show that the endpoint serves. */
const SERVES_MS = 10_000;
/** While it serves, faults in a row must last this long. A burst of requests that a provider cannot digest does not. */
const ROW_LASTS_MS = 500;
const SHARE_MIN = 10;
const SHARE = 0.5;

/**
 * Whether faults in a row show that the endpoint is down. Faults that no request can cause do immediately, such as a refused
 * connection. Others may be the fault of the request: a client that sends what a provider answers with 500 must not take an endpoint
 * away from others that it serves.
 */
export function isWorseThanPoison(
  { row, okMs }: Pick<HealthRecord, 'row' | 'okMs'>,
  othersOkMs: number | null,
): boolean {
  if (row === null || row.count < ROW_MIN) return false;
  if (row.hard >= ROW_MIN) return true;
  const servedMs = Math.max(okMs ?? Number.NEGATIVE_INFINITY, othersOkMs ?? Number.NEGATIVE_INFINITY);
  if (row.firstMs - servedMs > SERVES_MS) return true;
  if (row.lastMs - row.firstMs < ROW_LASTS_MS) return false;
  const servesOthers = othersOkMs !== null && row.lastMs - othersOkMs <= SERVES_MS;
  return row.caller === null || !servesOthers;
}

/**
 * Whether at least half of the recent attempts failed, so that successes in between do not keep a broken endpoint in the
 * order. While others are served, the failures of the caller with most of them do not count.
 */
export function isShareTooHigh(
  slots: readonly HealthSlot[],
  { othersOkMs, lastMs }: Pick<ReportedFaults, 'othersOkMs' | 'lastMs'>,
  nowMs: number,
): boolean {
  const { ended, failed } = countsOf(slots, SHARE_MS, nowMs);
  const servesOthers = othersOkMs !== null && lastMs - othersOkMs <= SHARE_MS;
  const excused = servesOthers ? mostByOneCaller(slots, nowMs) : 0;
  return ended - excused >= SHARE_MIN && failed - excused >= (ended - excused) * SHARE;
}

function mostByOneCaller(slots: readonly HealthSlot[], nowMs: number): number {
  const byCaller = new Map<string, number>();
  for (const each of slots) {
    if (!isWithin(each, SHARE_MS, nowMs)) continue;
    for (const [caller, failed] of Object.entries(each.by ?? {}))
      byCaller.set(caller, (byCaller.get(caller) ?? 0) + failed);
  }
  return Math.max(0, ...byCaller.values());
}
