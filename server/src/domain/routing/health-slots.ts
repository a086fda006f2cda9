/** One slot of the counts. */
export const SLOT_MS = 10_000;
/** How far back requests and their failures are counted. */
export const COUNTED_MS = 5 * 60_000;
/** How far back the breaker looks for a share of failures. */
export const SHARE_MS = 30_000;
const CALLERS_PER_SLOT_MAX = 8;

/** Attempts that ended within ten seconds. */
export interface HealthSlot {
  /** Milliseconds since the epoch in units of `SLOT_MS`. */
  readonly slot: number;
  readonly ended: number;
  readonly failed: number;
  /** Failures by caller, kept for as long as the breaker looks back, for some callers. */
  readonly by?: Readonly<Record<string, number>>;
}

export interface Counted {
  readonly ended: number;
  readonly failed: number;
  /** The failures by caller. */
  readonly by: Readonly<Record<string, number>> | null;
}

/** The slots with these attempts added, and without those that are too old. */
export function withCounts(
  slots: readonly HealthSlot[],
  { ended, failed, by }: Counted,
  nowMs: number,
): HealthSlot[] {
  const slot = Math.floor(nowMs / SLOT_MS);
  const kept: HealthSlot[] = [];
  let own: HealthSlot = { slot, ended: 0, failed: 0 };
  for (const each of slots) {
    if (each.slot === slot) own = each;
    else if (isWithin(each, COUNTED_MS, nowMs))
      kept.push(isWithin(each, SHARE_MS, nowMs) ? each : bare(each));
  }
  if (ended > 0) {
    const blamed = by === null ? own.by : joined(own.by ?? {}, by);
    own = { slot, ended: own.ended + ended, failed: own.failed + failed, ...(blamed && { by: blamed }) };
  }
  if (own.ended > 0) kept.push(own);
  return kept.sort((a, b) => a.slot - b.slot);
}

function bare({ slot, ended, failed }: HealthSlot): HealthSlot {
  return { slot, ended, failed };
}

function joined(
  known: Readonly<Record<string, number>>,
  added: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  const sums: Record<string, number> = { ...known };
  let callers = Object.keys(sums).length;
  for (const [caller, failed] of Object.entries(added)) {
    if (sums[caller] === undefined && callers >= CALLERS_PER_SLOT_MAX) continue;
    if (sums[caller] === undefined) callers += 1;
    sums[caller] = (sums[caller] ?? 0) + failed;
  }
  return sums;
}

export function isWithin({ slot }: HealthSlot, spanMs: number, nowMs: number): boolean {
  return (slot + 1) * SLOT_MS > nowMs - spanMs;
}

const DEGRADED_SHARE = 0.1;
const DEGRADED_MIN = 5;

/** The latest attempt failed, or too many of the last five minutes did. */
export function isDegraded(slots: readonly HealthSlot[], latestFailed: boolean, nowMs: number): boolean {
  if (latestFailed) return true;
  const { ended, failed } = countsOf(slots, COUNTED_MS, nowMs);
  return ended >= DEGRADED_MIN && failed >= ended * DEGRADED_SHARE;
}

export function countsOf(
  slots: readonly HealthSlot[],
  spanMs: number,
  nowMs: number,
): { ended: number; failed: number } {
  const counted = { ended: 0, failed: 0 };
  for (const each of slots) {
    if (!isWithin(each, spanMs, nowMs)) continue;
    counted.ended += each.ended;
    counted.failed += each.failed;
  }
  return counted;
}
