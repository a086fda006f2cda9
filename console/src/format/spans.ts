import { durationWords } from '@relay/contract/words';

/** A remaining time in whole seconds, which do not flicker: "3 h 20 min", "2 d 4 h", "45 s". */
export function formatSpan(milliseconds: number): string {
  return durationWords(Math.max(1_000, Math.round(milliseconds / 1_000) * 1_000));
}

const ordinals = new Intl.PluralRules('en-US', { type: 'ordinal' });
const ENDINGS: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'st', two: 'nd', few: 'rd' };

/** "1st", "101st", "1,002nd". */
export function formatOrdinal(place: number): string {
  return `${new Intl.NumberFormat('en-US').format(place)}${ENDINGS[ordinals.select(place)] ?? 'th'}`;
}
