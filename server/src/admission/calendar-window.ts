import type { LimitPeriod } from '@relay/contract';
import { type CalendarPeriod, isCalendar } from '../domain/limits/period.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** Time began on a Thursday; weeks begin on Mondays. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

export function windowStartMs(period: CalendarPeriod, atMs: number): number {
  if (period === 'hour') return Math.floor(atMs / HOUR_MS) * HOUR_MS;
  if (period === 'day') return Math.floor(atMs / DAY_MS) * DAY_MS;
  if (period === 'week') return Math.floor((atMs - FIRST_MONDAY_MS) / WEEK_MS) * WEEK_MS + FIRST_MONDAY_MS;
  const date = new Date(atMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

export function nextWindowMs(period: CalendarPeriod, atMs: number): number {
  const startMs = windowStartMs(period, atMs);
  if (period === 'hour') return startMs + HOUR_MS;
  if (period === 'day') return startMs + DAY_MS;
  if (period === 'week') return startMs + WEEK_MS;
  // A month has at most 31 days, so 32 days after its start lie in the next one.
  return windowStartMs('month', startMs + 32 * DAY_MS);
}

/**
 * When a limit resets, from about when it does. A calendar window resets at its nearest boundary: a time counted from a
 * request's arrival misses it by what passed before the check. Null for concurrency, which frees up when a request ends.
 */
export function resetTimeMs(period: LimitPeriod, aboutMs: number): number | null {
  if (period === 'none') return null;
  if (!isCalendar(period)) return aboutMs;
  const [startMs, endMs] = [windowStartMs(period, aboutMs), nextWindowMs(period, aboutMs)];
  return aboutMs - startMs < endMs - aboutMs ? startMs : endMs;
}
