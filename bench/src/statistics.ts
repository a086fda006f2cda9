export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error('there is no median of nothing');
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** The least value that this share of them does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const found = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  if (found === undefined) throw new Error('there is no percentile of nothing');
  return found;
}

export function spread(values: readonly number[], digits: number): Spread {
  return {
    min: rounded(Math.min(...values), digits),
    median: rounded(median(values), digits),
    max: rounded(Math.max(...values), digits),
  };
}

export function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** Pair by pair. */
export function ratiosOf(of: readonly number[], to: readonly number[]): number[] {
  return of.map((value, index) => value / (to[index] ?? Number.NaN));
}
