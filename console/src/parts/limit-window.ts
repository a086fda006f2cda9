import type { LimitPeriod } from '@relay/contract';

export interface Window {
  readonly startMs: number;
  readonly endMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LENGTHS_MS = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS } as const;
/** Weeks begin on Mondays. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

type CalendarPeriod = Extract<LimitPeriod, keyof typeof LENGTHS_MS | 'month'>;

export function isCalendar(period: LimitPeriod): period is CalendarPeriod {
  return period in LENGTHS_MS || period === 'month';
}

/** The calendar window in UTC that contains a time. */
export function windowAt(period: CalendarPeriod, atMs: number): Window {
  if (period === 'month') {
    const at = new Date(atMs);
    const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
    return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
  }
  const lengthMs = LENGTHS_MS[period];
  const firstMs = period === 'week' ? FIRST_MONDAY_MS : 0;
  const startMs = Math.floor((atMs - firstMs) / lengthMs) * lengthMs + firstMs;
  return { startMs, endMs: startMs + lengthMs };
}
