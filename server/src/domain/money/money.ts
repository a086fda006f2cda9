import type { Pricing } from '../snapshot.ts';
import type { Usage } from './usage.ts';

/*
 * Money is an integer of 10⁻¹² dollar: a price in micro-USD per million tokens, times a number of tokens, is one. It is stored as whole
 * micro-USD, rounded up, and what the rounding added. Rows of earlier versions, which know micro-USD only, are exact as they are.
 */

const PICOS_PER_MICRO = 1_000_000n;
const PICOS_PER_DOLLAR = 1_000_000_000_000n;
/** Any price may be configured, and a sum of costs must fit its column. */
const PICOS_MAX = BigInt(Number.MAX_SAFE_INTEGER) * PICOS_PER_MICRO;

/** As a row stores it: `micros` × 10⁶ − `roundingPicos` is exact. */
export interface StoredMoney {
  /** Rounded up. Limits count these, so no request is free for being small. */
  readonly micros: number;
  /** Below 10⁶. */
  readonly roundingPicos: number;
}

/** The exact cost of a request by the configured price. */
export function costPicos(pricing: Pricing, usage: Usage): bigint {
  if (usage.free === true) return 0n;
  const cachedPrice = pricing.cachedInputCostMicrosPer1mTokens ?? pricing.inputCostMicrosPer1mTokens;
  const uncachedTokens = usage.inputTokens - usage.cachedInputTokens;
  const cost =
    BigInt(uncachedTokens) * BigInt(pricing.inputCostMicrosPer1mTokens) +
    BigInt(usage.cachedInputTokens) * BigInt(cachedPrice) +
    BigInt(usage.outputTokens) * BigInt(pricing.outputCostMicrosPer1mTokens) +
    BigInt(pricing.flatRequestCostMicros) * PICOS_PER_MICRO;
  if (cost > PICOS_MAX) return PICOS_MAX;
  return cost;
}

/** What limits reserve and count for a request, in whole micro-USD, rounded up. */
export function costMicros(pricing: Pricing, usage: Usage): number {
  return storedMoney(costPicos(pricing, usage)).micros;
}

export function storedMoney(picos: bigint): StoredMoney {
  const micros = (picos + PICOS_PER_MICRO - 1n) / PICOS_PER_MICRO;
  return { micros: Number(micros), roundingPicos: Number(micros * PICOS_PER_MICRO - picos) };
}

export function picosOf({ micros, roundingPicos }: StoredMoney): bigint {
  return BigInt(micros) * PICOS_PER_MICRO - BigInt(roundingPicos);
}

/** As headers and pages show it: whole micro-USD, rounded half up. */
export function shownMicros(picos: bigint): number {
  return Number((picos + PICOS_PER_MICRO / 2n) / PICOS_PER_MICRO);
}

/** Exact, as a decimal number without trailing zeros: 0.0000001. */
export function exactUsd(picos: bigint): string {
  const parts = [picos / PICOS_PER_DOLLAR, String(picos % PICOS_PER_DOLLAR).padStart(12, '0')] as const;
  return `${parts[0]}.${parts[1]}`.replace(/\.?0+$/, '');
}
