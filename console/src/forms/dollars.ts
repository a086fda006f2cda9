const MICRO_DIGITS = 6;
const DECIMAL = /^(\d{1,9})(?:\.(\d{1,6}))?$/;

/**
 * The micro-dollars of a typed amount in dollars, or undefined. Works on digits, because multiplication makes
 * 0.07 dollars 70,000.00000000001.
 */
export function microsOf(typed: string): number | undefined {
  const match = DECIMAL.exec(typed.trim().replace(',', '.'));
  if (match === null) return undefined;
  const [, whole = '0', fraction = ''] = match;
  return Number(whole + fraction.padEnd(MICRO_DIGITS, '0'));
}

/** The shortest text for an amount. */
export function dollarsOf(micros: number | null): string {
  if (micros === null) return '';
  const digits = String(micros).padStart(MICRO_DIGITS + 1, '0');
  const fraction = digits.slice(-MICRO_DIGITS).replace(/0+$/, '');
  const whole = digits.slice(0, -MICRO_DIGITS);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
