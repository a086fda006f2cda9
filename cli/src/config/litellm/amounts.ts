import { shiftDecimal } from '@relay/contract/price-list';

type Period = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month';

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };
const PERIODS: Readonly<Record<number, Period>> = {
  1: 'second',
  60: 'minute',
  3600: 'hour',
  86400: 'day',
  604800: 'week',
};
const MONTH_SECONDS = 30 * 86_400;
const DOLLAR_DIGITS = 6;
const PER_MILLION_DIGITS = 12;

/** The window for a duration such as `1d`, if Relay has one. */
export function periodOf(duration: string): { readonly period: Period; readonly isExact: boolean } | null {
  const match = /^(\d+)(s|m|h|d|w|mo)$/.exec(duration.trim());
  const [, amount, unit] = match ?? [];
  if (unit === 'mo') return Number(amount) === 1 ? { period: 'month', isExact: true } : null;
  const seconds = Number(amount) * (SECONDS[unit ?? ''] ?? Number.NaN);
  if (seconds === MONTH_SECONDS) return { period: 'month', isExact: false };
  const period = PERIODS[seconds];
  return period === undefined ? null : { period, isExact: true };
}

/** Dollars as micro-dollars, rounded up, because a limit of zero would reject everything. */
export function microsOf(dollars: number): number {
  const { value, exact } = shiftDecimal(dollars, DOLLAR_DIGITS);
  return !exact && value === 0 ? 1 : value;
}

/** Dollars per token as micro-dollars per million tokens. */
export function perMillionOf(dollars: number): { readonly value: number; readonly exact: boolean } {
  return shiftDecimal(dollars, PER_MILLION_DIGITS);
}
