/** Times are shown in UTC, as limits, the API and the command line use it. Local time is on hover. */
const inUtc = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-US', { hourCycle: 'h23', timeZone: 'UTC', ...options });

const DAY = { month: 'short', day: 'numeric' } as const;
const CLOCK = { hour: '2-digit', minute: '2-digit' } as const;

const dateTime = inUtc({ ...DAY, year: 'numeric', ...CLOCK });
const exactTime = inUtc({ ...DAY, year: 'numeric', ...CLOCK, second: '2-digit' });
const dayTime = inUtc({ ...DAY, ...CLOCK });
const day = inUtc({ ...DAY, year: 'numeric' });
const shortDay = inUtc({ month: 'short', day: '2-digit' });
const dayOfYear = inUtc(DAY);
const clock = inUtc({ ...CLOCK, second: '2-digit' });
const shortClock = inUtc(CLOCK);
const monthName = inUtc({ month: 'long', year: 'numeric' });

const localTime = new Intl.DateTimeFormat('en-US', {
  ...DAY,
  ...CLOCK,
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
});

/** Nov 15, 2026, 14:03 UTC. */
export function formatDateTime(at: string): string {
  return `${dateTime.format(new Date(at))} UTC`;
}

/** Nov 15, 2026, 14:03:22 UTC, for logs. */
export function formatExactTime(at: string): string {
  return `${exactTime.format(new Date(at))} UTC`;
}

/** The exact time and the local time: Nov 15, 2026, 14:03:22 UTC (Nov 15, 15:03:22 GMT+1). */
export function formatHover(at: string): string {
  return `${formatExactTime(at)} (${localTime.format(new Date(at))})`;
}

/** The time of day to the second, with a fixed width for log rows; the column header names UTC. */
export function formatClock(at: string): string {
  return clock.format(new Date(at));
}

export function formatShortDay(at: string): string {
  return shortDay.format(new Date(at));
}

/** Nov 15, 2026. */
export function formatDay(at: string): string {
  return day.format(new Date(at));
}

/** A nearby time: 14:03 UTC today, Nov 16, 14:03 UTC on other days. */
export function formatMoment(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const isToday = day.format(at) === day.format(new Date(nowMs));
  return `${(isToday ? shortClock : dayTime).format(at)} UTC`;
}

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
/** In milliseconds, largest first. */
const UNITS = [
  ['d', DAY_MS],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', SECOND_MS],
] as const;
/** Hides the difference between the clocks of browser and server. */
const NOW_MS = 5 * SECOND_MS;
/** Beyond this a relative time is hard to place. */
const RELATIVE_MS_MAX = 7 * DAY_MS;

/** "3 min ago", "in 2 d"; a date for times more than a week away. */
export function formatAgo(at: string, nowMs: number): string {
  const differenceMs = new Date(at).getTime() - nowMs;
  const awayMs = Math.abs(differenceMs);
  if (awayMs < NOW_MS) return 'just now';
  if (awayMs > RELATIVE_MS_MAX) return formatDay(at);
  const [unit, unitMs] = UNITS.find(([, each]) => awayMs >= each) ?? UNITS[3];
  const amount = `${Math.floor(awayMs / unitMs)} ${unit}`;
  return differenceMs < 0 ? `${amount} ago` : `in ${amount}`;
}

export type Bucket = 'minute' | 'hour' | 'day';

const weekDay = inUtc({ weekday: 'short', ...DAY, year: 'numeric' });

/** The start of a chart bucket, with the precision of the bucket. */
export function formatBucket(at: string, bucket: Bucket): string {
  const date = new Date(at);
  return bucket === 'day' ? weekDay.format(date) : `${dayTime.format(date)} UTC`;
}

/** The same, short enough for an axis; midnight shows its day. */
export function formatTick(at: string, bucket: Bucket): string {
  const date = new Date(at);
  const isMidnight = date.getTime() % DAY_MS === 0;
  return (bucket === 'day' || isMidnight ? dayOfYear : shortClock).format(date);
}

/** "November 2026" for 2026-11. */
export function formatMonth(month: string): string {
  return monthName.format(new Date(`${month}-01T00:00:00.000Z`));
}
