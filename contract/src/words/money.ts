/** Micro-USD as dollars, exact, with at least two decimals: $12.50, $0.000042. */
export function dollarWords(micros: number): string {
  const exact = (Math.abs(micros) / 1_000_000).toFixed(6).replace(/0{1,4}$/, '');
  return `${micros < 0 ? '-' : ''}$${exact}`;
}
