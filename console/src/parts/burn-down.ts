import type { LimitUsage } from '@relay/contract';
import { isCalendar, type Window, windowAt } from './limit-window.ts';

interface Point {
  readonly at: string;
  readonly value: number | null;
}

export type StepName = 'minute' | 'hour' | 'day';

const STEPS_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
const SLIDING_MS = 3 * STEPS_MS.hour;

/** The time span and bucket width of a limit's chart. */
export interface Stretch extends Window {
  readonly step: StepName;
}

/** The current window, or the last hours of a sliding window. Null where no usage is recorded. */
export function stretchOf(period: LimitUsage['period'], nowMs: number): Stretch | null {
  if (period === 'none') return null;
  if (!isCalendar(period)) {
    const endMs = Math.floor(nowMs / STEPS_MS.minute) * STEPS_MS.minute + STEPS_MS.minute;
    return { startMs: endMs - SLIDING_MS, endMs, step: 'minute' };
  }
  const step = period === 'hour' ? 'minute' : period === 'month' ? 'day' : 'hour';
  return { ...windowAt(period, nowMs), step };
}

/**
 * The remaining amount at the end of each bucket and its projection. Buckets come from the statistics; the last
 * point is the live state, which is 1–2 s ahead of them. Without a rate there is no projection. Statistics include rejected requests, so no earlier
 * point is below the present one.
 */
export function burnDown(
  usage: LimitUsage,
  counted: readonly Point[],
  { startMs, endMs, step }: Stretch,
  nowMs: number,
): { readonly left: readonly Point[]; readonly projected: readonly Point[] } {
  const stepMs = STEPS_MS[step];
  const takenNow = usage.used + usage.reserved;
  const ratePerMs = usage.rate_per_hour === null ? null : usage.rate_per_hour / STEPS_MS.hour;
  const valueAt = new Map(counted.map(({ at, value }) => [Date.parse(at), value ?? 0]));
  const left: Point[] = [];
  const projected: Point[] = [];
  let taken = 0;
  for (let fromMs = startMs; fromMs < endMs; fromMs += stepMs) {
    const at = new Date(fromMs).toISOString();
    const tillMs = fromMs + stepMs;
    taken = Math.min(takenNow, taken + (valueAt.get(fromMs) ?? 0));
    const isPast = tillMs <= nowMs;
    const isNow = fromMs <= nowMs && !isPast;
    const onLine =
      ratePerMs === null ? null : Math.max(0, Math.round(usage.remaining - ratePerMs * (tillMs - nowMs)));
    left.push({ at, value: isPast ? Math.max(0, usage.limit - taken) : isNow ? usage.remaining : null });
    projected.push({ at, value: isPast || onLine === null ? null : isNow ? usage.remaining : onLine });
  }
  return { left, projected };
}

/**
 * Usage by minute against the limit of a sliding window; a limit per second is compared with the mean of the
 * minute.
 */
export function slidingUse(
  { limit, period }: Pick<LimitUsage, 'limit' | 'period'>,
  counted: readonly Point[],
): { readonly used: readonly Point[]; readonly limit: readonly Point[] } {
  const share = period === 'second' ? 60 : 1;
  return {
    used: counted.map(({ at, value }) => ({ at, value: (value ?? 0) / share })),
    limit: counted.map(({ at }) => ({ at, value: limit })),
  };
}
