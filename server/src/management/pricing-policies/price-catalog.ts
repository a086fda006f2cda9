import type { ConditionalPrice, ModelInfo, ModelPrice } from '@pydantic/genai-prices';

/** What the catalogue says a model costs, in whole micro-USD: for a million tokens, and for each request. */
export interface CatalogPrice {
  readonly inputMicros: number;
  /** Null for a model of which only the input is priced, such as one for embeddings. */
  readonly outputMicros: number | null;
  readonly cachedInputMicros: number | null;
  readonly flatRequestMicros: number;
}

export interface PricedModel {
  /** The provider's address: the same model has another price elsewhere. */
  readonly baseUrl: string;
  readonly model: string;
  readonly atMs: number;
}

/**
 * The price of a model by the catalogue that the package carries; null when it has none. Nothing is asked over the
 * network: the catalogue is as old as the version of Relay, and is shown as what it is.
 */
export async function findCatalogPrice(asked: PricedModel): Promise<CatalogPrice | null> {
  // Large, and of no use to a process that serves requests alone.
  const { calcPrice } = await import('@pydantic/genai-prices');
  const { origin, pathname } = new URL(asked.baseUrl);
  const providerApiUrl = origin + pathname;
  const found = calcPrice({}, asked.model, { providerApiUrl, timestamp: new Date(asked.atMs) });
  return found === null ? null : priceOf(pricesInForce(found.model, asked.atMs));
}

/**
 * The prices that apply today. A price by the hour of the day cannot be set for an endpoint, so a model that has one has
 * several here.
 */
export function pricesInForce({ prices }: Pick<ModelInfo, 'prices'>, atMs: number): ModelPrice[] {
  if (!Array.isArray(prices)) return [prices];
  const hourly: ModelPrice[] = [];
  // A later entry goes before an earlier one.
  for (const { constraint, prices: entry } of prices.toReversed()) {
    if (isHourly(constraint)) hourly.push(entry);
    else if (constraint === undefined || atMs >= Date.parse(constraint.start_date)) return [entry, ...hourly];
  }
  return hourly;
}

function isHourly(constraint: ConditionalPrice['constraint']): constraint is HourlyConstraint {
  return constraint?.type === 'time_of_date';
}
type HourlyConstraint = Extract<ConditionalPrice['constraint'], { type: 'time_of_date' }>;

/** Of several, the highest of each: a limit on spend must not let through what the dearest hour costs. */
export function priceOf(prices: readonly ModelPrice[]): CatalogPrice | null {
  const highest = (name: string, digits: number): number | null => {
    const known = prices.map((price) => baseOf(price[name])).filter((value) => value !== null);
    return known.length === 0 ? null : Math.max(...known.map((value) => shiftDecimal(value, digits).value));
  };
  const inputMicros = highest('input_mtok', MICRO_DIGITS);
  // A model that is listed without a price is not thereby free.
  if (inputMicros === null) return null;
  return {
    inputMicros,
    outputMicros: highest('output_mtok', MICRO_DIGITS),
    cachedInputMicros: highest('cache_read_mtok', MICRO_DIGITS),
    // For a thousand requests.
    flatRequestMicros: highest('requests_kcount', MICRO_DIGITS - 3) ?? 0,
  };
}

const MICRO_DIGITS = 6;

/** A long prompt may cost more; what every request pays is the first tier. */
function baseOf(price: ModelPrice[string]): number | null {
  return (typeof price === 'object' ? price.base : price) ?? null;
}

/**
 * The number with its decimal point moved to the right, from its decimal digits and not by a multiplication, which
 * would make 0.07 dollars 70,000.00000000001. Where digits are left over it is the nearest whole number, and not exact.
 */
export function shiftDecimal(number: number, digits: number): { value: number; exact: boolean } {
  const match = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(number));
  if (match === null) throw new RangeError(`${number} is no price`);
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const places = digits + Number(exponent) - fraction.length;
  const scaled = BigInt(whole + fraction);
  if (places >= 0) return { value: Number(scaled * 10n ** BigInt(places)), exact: true };
  const divisor = 10n ** BigInt(-places);
  const value = (scaled + divisor / 2n) / divisor;
  return { value: Number(value), exact: value * divisor === scaled };
}
