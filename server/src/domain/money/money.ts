import type { Prices, Pricing } from '../snapshot.ts';
import { boundParts } from './bound-usage.ts';
import { pricesFor } from './prices-for.ts';
import { INPUT_PARTS, OUTPUT_PARTS, type Usage, type UsagePart } from './usage.ts';

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
  const prices = pricesFor(pricing, usage);
  const cost =
    costOf(usage, INPUT_PARTS, usage.inputTokens, prices.inputCostMicrosPer1mTokens, prices) +
    costOf(usage, OUTPUT_PARTS, usage.outputTokens, prices.outputCostMicrosPer1mTokens, prices) +
    BigInt(prices.flatRequestCostMicros) * PICOS_PER_MICRO;
  if (cost > PICOS_MAX) return PICOS_MAX;
  return cost;
}

const PART_PRICES: Readonly<Record<UsagePart, (prices: Prices) => number | null | undefined>> = {
  cachedInputTokens: (prices) => prices.cachedInputCostMicrosPer1mTokens,
  cacheWrite5mTokens: (prices) => prices.cacheWrite5mCostMicrosPer1mTokens,
  cacheWrite1hTokens: (prices) =>
    prices.cacheWrite1hCostMicrosPer1mTokens ?? prices.cacheWrite5mCostMicrosPer1mTokens,
  audioInputTokens: (prices) => prices.audioInputCostMicrosPer1mTokens,
  imageInputTokens: (prices) => prices.imageInputCostMicrosPer1mTokens,
  reasoningTokens: (prices) => prices.reasoningCostMicrosPer1mTokens,
  audioOutputTokens: (prices) => prices.audioOutputCostMicrosPer1mTokens,
  imageOutputTokens: (prices) => prices.imageOutputCostMicrosPer1mTokens,
};

/** The cost of the input or the output: its parts at their own prices, and the rest. */
function costOf(
  usage: Usage,
  names: readonly UsagePart[],
  whole: number,
  price: number,
  prices: Prices,
): bigint {
  const parts = boundParts(usage, names, whole);
  let [cost, rest] = [0n, BigInt(whole)];
  for (const name of names) {
    const tokens = BigInt(parts[name] ?? 0);
    cost += tokens * BigInt(PART_PRICES[name](prices) ?? price);
    rest -= tokens;
  }
  return cost + rest * BigInt(price);
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
