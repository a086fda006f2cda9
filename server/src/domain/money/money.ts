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

/** What a request pays for: tokens of one kind at one price, or the flat price of a request. */
export interface CostLine {
  readonly kind: 'input' | 'output' | 'request' | UsagePart;
  /** Null for the flat price. */
  readonly tokens: number | null;
  /** For a million tokens, or for the request. */
  readonly priceMicros: number;
  readonly picos: bigint;
}

/** The exact cost of a request by the configured price. */
export function costPicos(pricing: Pricing, usage: Usage): bigint {
  let cost = 0n;
  for (const { picos } of costLines(pricing, usage)) cost += picos;
  return cost > PICOS_MAX ? PICOS_MAX : cost;
}

/** What the cost of a request is made of. Parts without a price of their own are in the line of the input or the output. */
export function costLines(pricing: Pricing, usage: Usage): readonly CostLine[] {
  if (usage.free === true) return [];
  const prices = pricesFor(pricing, usage);
  const lines = [
    ...linesOf('input', INPUT_PARTS, usage.inputTokens, usage, prices),
    ...linesOf('output', OUTPUT_PARTS, usage.outputTokens, usage, prices),
  ];
  const flat = prices.flatRequestCostMicros;
  if (flat > 0)
    lines.push({ kind: 'request', tokens: null, priceMicros: flat, picos: BigInt(flat) * PICOS_PER_MICRO });
  return lines;
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

/** The input or the output: what is left of it, then its parts at their own prices. */
function linesOf(
  side: 'input' | 'output',
  names: readonly UsagePart[],
  whole: number,
  usage: Usage,
  prices: Prices,
): CostLine[] {
  const parts = boundParts(usage, names, whole);
  const price = side === 'input' ? prices.inputCostMicrosPer1mTokens : prices.outputCostMicrosPer1mTokens;
  const own: CostLine[] = [];
  let rest = whole;
  for (const name of names) {
    const [tokens, ownPrice] = [parts[name] ?? 0, PART_PRICES[name](prices) ?? null];
    if (tokens === 0 || ownPrice === null) continue;
    own.push(lineOf(name, tokens, ownPrice));
    rest -= tokens;
  }
  return rest > 0 ? [lineOf(side, rest, price), ...own] : own;
}

function lineOf(kind: CostLine['kind'], tokens: number, priceMicros: number): CostLine {
  return { kind, tokens, priceMicros, picos: BigInt(tokens) * BigInt(priceMicros) };
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
