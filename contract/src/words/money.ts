import { countWords } from './count.ts';

/** 1,000 is a thousand. 1,50 and 0,075 are not amounts, because a guess could be a thousand times too high. */
const DOLLARS = /^(\d{1,9}|[1-9]\d{0,2}(?:,\d{3}){1,2})(?:\.(\d{1,6}))?$/;
const MICRO_DIGITS = 6;

/** Micro-USD as dollars, exact, with at least two decimals: $5,000.00, $12.50, $0.000042. */
export function dollarWords(micros: number): string {
  const exact = (Math.abs(micros) / 1_000_000).toFixed(6).replace(/0{1,4}$/, '');
  const [dollars = '0', decimals = '00'] = exact.split('.');
  return `${micros < 0 ? '-' : ''}$${countWords(Number(dollars))}.${decimals}`;
}

/**
 * The micro-USD of a typed amount in dollars: `50`, `12.5`, `1,250.75`. Undefined for any other text. Works on digits, because
 * multiplication makes 0.07 dollars 70,000.00000000001.
 */
export function microsOf(typed: string): number | undefined {
  const match = DOLLARS.exec(typed.trim());
  if (match === null) return undefined;
  const [, whole = '', part = ''] = match;
  return Number(whole.replaceAll(',', '') + part.padEnd(MICRO_DIGITS, '0'));
}
