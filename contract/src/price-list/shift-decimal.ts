/**
 * Moves the decimal point to the right by editing digits: multiplying would turn 0.07 dollars into
 * 70,000.00000000001. Rounds any remaining digits and then reports the value as not exact.
 */
export function shiftDecimal(number: number, digits: number): { value: number; exact: boolean } {
  const match = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(number));
  if (match === null) throw new RangeError(`${number} is not a price`);
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const places = digits + Number(exponent) - fraction.length;
  const scaled = BigInt(whole + fraction);
  if (places >= 0) return { value: Number(scaled * 10n ** BigInt(places)), exact: true };
  const divisor = 10n ** BigInt(-places);
  const value = (scaled + divisor / 2n) / divisor;
  return { value: Number(value), exact: value * divisor === scaled };
}
