import { exactUsd, shownMicros } from '../../domain/money/money.ts';

/** How much of what used something has a price. */
export interface PricedCounts {
  /** Attempts. */
  readonly priced: number;
  /** Requests, or attempts where they are what is counted. */
  readonly unpriced: number;
}

type WireCosts<Prefix extends string> = Record<`${Prefix}_micros`, number | null> &
  Record<`${Prefix}_usd`, string | null> & { unpriced_requests: number };

/** Returns sums of costs by their prefix. */
export function wireCosts<Prefix extends string>(
  sums: Readonly<Record<Prefix, bigint>>,
  counts: PricedCounts,
): WireCosts<Prefix> {
  const fields = Object.entries<bigint>(sums).flatMap(([prefix, picos]) => {
    const { micros, usd } = shownSum(picos, counts);
    return [
      [`${prefix}_micros`, micros],
      [`${prefix}_usd`, usd],
    ];
  });
  return { ...Object.fromEntries(fields), unpriced_requests: counts.unpriced };
}

/** A sum in micro-USD and exactly; null if none of its requests has a price, because 0 would say that they cost nothing. */
export function shownSum(
  picos: bigint,
  { priced, unpriced }: PricedCounts,
): { micros: number | null; usd: string | null } {
  const isUnpriced = picos === 0n && unpriced > 0 && priced <= 0;
  return isUnpriced ? { micros: null, usd: null } : { micros: shownMicros(picos), usd: exactUsd(picos) };
}
