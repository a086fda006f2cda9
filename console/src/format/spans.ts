import { formatUnit } from './numbers.ts';
import { UNITS } from './times.ts';

/** A remaining time in its two largest units: "3 hr 20 min", "2 days 4 hr", "45 sec". */
export function formatSpan(milliseconds: number): string {
  let restMs = Math.max(1_000, Math.round(milliseconds / 1_000) * 1_000);
  const largest = UNITS.findIndex(([, unitMs]) => restMs >= unitMs);
  const parts: string[] = [];
  for (const [unit, unitMs] of UNITS.slice(largest, largest + 2)) {
    const count = Math.floor(restMs / unitMs);
    restMs -= count * unitMs;
    if (count > 0) parts.push(formatUnit(count, unit, 0));
  }
  return parts.join(' ');
}

const sameDay = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const otherDay = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** A nearby time: without a date today, with its date on other days. */
export function formatMoment(atMs: number, nowMs: number): string {
  const [at, now] = [new Date(atMs), new Date(nowMs)];
  return (at.toDateString() === now.toDateString() ? sameDay : otherDay).format(at);
}

const ordinals = new Intl.PluralRules('en', { type: 'ordinal' });
const ENDINGS: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'st', two: 'nd', few: 'rd' };

/** "1st", "101st", "1,002nd". */
export function formatOrdinal(place: number): string {
  return `${new Intl.NumberFormat('en').format(place)}${ENDINGS[ordinals.select(place)] ?? 'th'}`;
}
