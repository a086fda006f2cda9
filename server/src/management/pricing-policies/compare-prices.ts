import { isDeepStrictEqual } from 'node:util';
import type { PriceListEntry, PricePlanRow, PricingPolicy } from '@relay/contract';
import { INTEGER_MAX, type SentPrices } from './wire.ts';

type PriceField = keyof typeof INTEGER_MAX;
type Variant = PricingPolicy['variants'][number];
export type Prices = Required<Omit<SentPrices, 'scheduled'>>;

const FIELDS = Object.keys(INTEGER_MAX) as PriceField[];
/** A move beyond it is rather an error of the list than a new price. */
const FACTOR_MAX = 10;

/** The prices after an import. What the list leaves out stays, and so do prices of service tiers where the list has none. */
export function pricesAfter(entry: PriceListEntry, before: Prices | null): Prices {
  const listed = FIELDS.map((field) => [field, entry[field] === undefined ? before?.[field] : entry[field]]);
  const prices = Object.fromEntries(listed.map(([field, value]) => [field, value ?? null])) as Prices;
  const { variants = [] } = entry;
  const kept = variants.some(({ service_tier }) => service_tier !== undefined)
    ? []
    : (before?.variants ?? []).filter(({ service_tier }) => service_tier !== undefined);
  return {
    ...prices,
    input_cost_micros_per_1m_tokens: entry.input_cost_micros_per_1m_tokens,
    output_cost_micros_per_1m_tokens: entry.output_cost_micros_per_1m_tokens,
    flat_request_cost_micros: prices.flat_request_cost_micros ?? 0,
    variants: [...variants, ...kept],
  };
}

export function changesBetween(before: Prices | null, after: Prices): PricePlanRow['changes'] {
  return ([...FIELDS, 'variants'] as const).flatMap((field) => {
    const [was, is] = [before?.[field] ?? null, after[field] ?? null];
    const isNew = before === null ? is !== null && !isDeepStrictEqual(is, []) && is !== 0 : true;
    return isDeepStrictEqual(sorted(was), sorted(is)) || !isNew ? [] : [{ field, before: was, after: is }];
  });
}

export interface Move {
  /** The largest move, new by old; null where no price moves. */
  readonly factor: number | null;
  readonly heldBack: PricePlanRow['held_back'];
}

/** How far prices move. A first price is held back where it says that the model is free. */
export function moveBetween(before: Prices | null, after: Prices): Move {
  if (before === null) {
    const isFree =
      after.input_cost_micros_per_1m_tokens === 0 &&
      after.output_cost_micros_per_1m_tokens === 0 &&
      after.flat_request_cost_micros === 0;
    return { factor: null, heldBack: isFree ? 'zero' : null };
  }
  const pairs = [...pairsOf(before, after), ...variantPairs(before.variants, after.variants, after)];
  const moved = pairs.filter(([was, is]) => was !== is);
  if (moved.some(([, is]) => is === 0)) return { factor: 0, heldBack: 'zero' };
  const factors = moved.filter(([was]) => was !== 0).map(([was, is]) => is / was);
  const factor = factors.reduce<number | null>(
    (most, each) => (most === null || distance(each) > distance(most) ? each : most),
    null,
  );
  const tooFar = factor !== null && distance(factor) > FACTOR_MAX;
  return { factor: factor === null ? null : rounded(factor), heldBack: tooFar ? 'factor' : null };
}

function distance(factor: number): number {
  return factor < 1 ? 1 / factor : factor;
}

function rounded(factor: number): number {
  return Number(factor.toPrecision(4));
}

/** Prices that both have, and those that become zero from the price they had by default. */
function pairsOf(before: Partial<Prices>, after: Partial<Prices>): [number, number][] {
  return FIELDS.flatMap((field): [number, number][] => {
    const [was, is] = [before[field] ?? null, after[field] ?? null];
    if (is === null) return [];
    if (was !== null) return [[was, is]];
    return is === 0 && field !== 'flat_request_cost_micros' ? [[1, 0]] : [];
  });
}

function variantPairs(
  before: readonly Variant[],
  after: readonly Variant[],
  base: Prices,
): [number, number][] {
  const conditionOf = ({ service_tier, above_input_tokens }: Variant) =>
    `${service_tier} ${above_input_tokens}`;
  const had = new Map(before.map((variant) => [conditionOf(variant), variant]));
  return after.flatMap((variant) => pairsOf(had.get(conditionOf(variant)) ?? base, variant));
}

/** Lists in any order of their fields. */
function sorted(value: unknown): unknown {
  return Array.isArray(value) ? value.map((each) => Object.fromEntries(Object.entries(each).sort())) : value;
}
