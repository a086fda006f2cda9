import type { PriceListEntry } from '../resources/price-plan.ts';
import type { PriceName } from '../resources/pricing.ts';
import { shiftDecimal } from './shift-decimal.ts';

export type { PriceListEntry, PriceName };
export type ListVariant = NonNullable<PriceListEntry['variants']>[number];

/** Prices as a list has them, by what they are for. */
export type ListedPrices = Partial<Record<PriceName, number>>;

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function countIn(value: unknown): number | null {
  const count = Number(value);
  return Number.isSafeInteger(count) && count > 0 ? count : null;
}

/** A price in micro-USD; undefined where the list has none, or one that Relay cannot hold. */
export function priceIn(value: unknown, digits: number): number | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return undefined;
  const { value: micros } = shiftDecimal(value, digits);
  return micros <= PRICE_MICROS_MAX ? micros : undefined;
}

/** One dollar for a token. */
const PRICE_MICROS_MAX = 1_000_000_000_000;

/** Those by length first, the shorter before the longer, then those by tier: where several apply, the later one counts. */
export function inOrder(variants: Iterable<ListVariant>): ListVariant[] {
  const rank = ({ service_tier, above_input_tokens = 0 }: ListVariant) =>
    [service_tier === undefined ? 0 : 1, above_input_tokens] as const;
  return [...variants].sort((one, other) => {
    const [a, b] = [rank(one), rank(other)];
    return a[0] - b[0] || a[1] - b[1] || (one.service_tier ?? '').localeCompare(other.service_tier ?? '');
  });
}
