const locale = undefined;
const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
const shortDay = new Intl.DateTimeFormat(locale, { month: 'short', day: '2-digit' });
const clock = new Intl.DateTimeFormat(locale, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });

export function formatDateTime(at: string): string {
  return dateTime.format(new Date(at));
}

/** The time of day to the second, with a fixed width for log rows. */
export function formatClock(at: string): string {
  return clock.format(new Date(at));
}

export function formatShortDay(at: string): string {
  return shortDay.format(new Date(at));
}

export function formatDay(at: string): string {
  return day.format(new Date(at));
}

/** In milliseconds, largest first. */
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** "3 minutes ago", "in 2 days". */
export function formatAgo(at: string, nowMs: number): string {
  const differenceMs = new Date(at).getTime() - nowMs;
  for (const [unit, unitMs] of UNITS) {
    if (Math.abs(differenceMs) >= unitMs || unit === 'second')
      return relative.format(Math.round(differenceMs / unitMs), unit);
  }
  return '';
}

export type Bucket = 'minute' | 'hour' | 'day';

// Day buckets start at midnight UTC, so their dates are in UTC; hours and minutes are local.
const bucketNames: Record<Bucket, Intl.DateTimeFormat> = {
  minute: new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    hour: 'numeric',
    minute: '2-digit',
  }),
  hour: new Intl.DateTimeFormat(locale, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: 'numeric',
    minute: '2-digit',
  }),
  day: new Intl.DateTimeFormat(locale, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  }),
};
const tickDay = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' });
const tickDayUtc = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const tickTime = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** The start of a chart bucket, with the precision of the bucket. */
export function formatBucket(at: string, bucket: Bucket): string {
  return bucketNames[bucket].format(new Date(at));
}

/** The same, short enough for an axis; midnight shows its day. */
export function formatTick(at: string, bucket: Bucket): string {
  const date = new Date(at);
  if (bucket === 'day') return tickDayUtc.format(date);
  return date.getHours() === 0 && date.getMinutes() === 0 ? tickDay.format(date) : tickTime.format(date);
}

/** The time zone of displayed times. */
export function zoneName(): string {
  return Intl.DateTimeFormat(locale).resolvedOptions().timeZone;
}

const monthName = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** "November 2026" for 2026-11, a month in UTC. */
export function formatMonth(month: string): string {
  return monthName.format(new Date(`${month}-01T00:00:00.000Z`));
}
