const locale = undefined;
const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });

export function formatDateTime(at: string): string {
  return dateTime.format(new Date(at));
}

export function formatDay(at: string): string {
  return day.format(new Date(at));
}

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
