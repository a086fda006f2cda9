import { durationWords } from '@relay/contract/words';

/** A remaining time in whole seconds, which do not flicker: "3 h 20 min", "2 d 4 h", "45 s". */
export function formatSpan(milliseconds: number): string {
  return durationWords(Math.max(1_000, Math.round(milliseconds / 1_000) * 1_000));
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
