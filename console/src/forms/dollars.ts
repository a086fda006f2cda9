const MICRO_DIGITS = 6;

/** The shortest text for an amount. */
export function dollarsOf(micros: number | null): string {
  if (micros === null) return '';
  const digits = String(micros).padStart(MICRO_DIGITS + 1, '0');
  const fraction = digits.slice(-MICRO_DIGITS).replace(/0+$/, '');
  const whole = digits.slice(0, -MICRO_DIGITS);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
