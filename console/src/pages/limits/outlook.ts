import type { LimitPeriod } from '@relay/contract';
import type { LimitRow } from './limit-row.ts';

export type LimitState = 'exhausted' | 'close' | 'enabled' | 'disabled';

/** The state of a limit and its projection at the rate since the window started. */
export interface Outlook {
  readonly state: LimitState;
  /** The remaining share of the limit, from 0 to 1. */
  readonly leftShare: number;
  /** When the limit will be exhausted; null if not before the reset, or unknown. */
  readonly runsOutMs: number | null;
}

export interface Window {
  readonly startMs: number;
  readonly endMs: number;
}

const CLOSE_SHARE = 0.2;
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

export function outlookOf(row: LimitRow, nowMs: number): Outlook {
  const { usage, enabled } = row;
  if (!enabled) return { state: 'disabled', leftShare: 1, runsOutMs: null };
  if (usage === null)
    return { state: row.limit === 0 ? 'exhausted' : 'enabled', leftShare: 1, runsOutMs: null };
  const leftShare = usage.limit === 0 ? 0 : usage.remaining / usage.limit;
  if (usage.remaining === 0) return { state: 'exhausted', leftShare, runsOutMs: nowMs };
  const state = leftShare <= CLOSE_SHARE ? 'close' : 'enabled';
  return { state, leftShare, runsOutMs: runsOutAt(row, nowMs) };
}

/** Extrapolates linearly from the start of the window. */
function runsOutAt({ usage, period }: LimitRow, nowMs: number): number | null {
  if (usage === null || !isCalendar(period)) return null;
  const { startMs, endMs } = windowAt(period, nowMs);
  const taken = usage.used + usage.reserved;
  if (taken === 0) return null;
  const atMs = nowMs + (usage.remaining * Math.max(1, nowMs - startMs)) / taken;
  return atMs < endMs ? atMs : null;
}

export interface Standing {
  readonly row: LimitRow;
  readonly outlook: Outlook;
}

/** Sorts by tightness: the least remaining share first, then the earlier exhaustion. */
export function bitesBefore(a: Standing, b: Standing): number {
  return (
    Number(b.row.enabled) - Number(a.row.enabled) ||
    a.outlook.leftShare - b.outlook.leftShare ||
    sooner(a.outlook.runsOutMs, b.outlook.runsOutMs) ||
    a.row.id.localeCompare(b.row.id)
  );
}

function sooner(a: number | null, b: number | null): number {
  if (a === b) return 0;
  return (a ?? Number.POSITIVE_INFINITY) - (b ?? Number.POSITIVE_INFINITY);
}
