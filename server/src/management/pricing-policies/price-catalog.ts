import type { ConditionalPrice, ModelInfo, ModelPrice } from '@pydantic/genai-prices';

/** A model's price in the catalog, in whole micro-USD per million tokens and per request. */
export interface CatalogPrice {
  readonly inputMicros: number;
  /** Null when the catalog only prices input, as for embedding models. */
  readonly outputMicros: number | null;
  readonly cachedInputMicros: number | null;
  readonly flatRequestMicros: number;
}

export interface PricedModel {
  /** The provider's URL: the same model may have another price at another provider. */
  readonly baseUrl: string;
  readonly model: string;
  readonly atMs: number;
}

/**
 * The price of a model in the catalog that ships with Relay; null when there is none. Uses no network, so
 * prices are as old as this version of Relay, and the API marks them as catalog prices.
 */
export async function findCatalogPrice(asked: PricedModel): Promise<CatalogPrice | null> {
  // Loaded on demand: the package is large, and a process that only serves inference does not need it.
  const { calcPrice } = await import('@pydantic/genai-prices');
  const { origin, pathname } = new URL(asked.baseUrl);
  const providerApiUrl = origin + pathname;
  const found = calcPrice({}, asked.model, { providerApiUrl, timestamp: new Date(asked.atMs) });
  return found === null ? null : priceOf(pricesInForce(found.model, asked.atMs));
}

/**
 * The prices that apply today. Endpoints cannot have prices by time of day, so a model with such prices returns
 * several.
 */
export function pricesInForce({ prices }: Pick<ModelInfo, 'prices'>, atMs: number): ModelPrice[] {
  if (!Array.isArray(prices)) return [prices];
  const hourly: ModelPrice[] = [];
  // Later entries take precedence.
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

/** The highest of each price, so that a spend limit also holds at the most expensive time of day. */
export function priceOf(prices: readonly ModelPrice[]): CatalogPrice | null {
  const highest = (name: string, digits: number): number | null => {
    const known = prices.map((price) => baseOf(price[name])).filter((value) => value !== null);
    return known.length === 0 ? null : Math.max(...known.map((value) => shiftDecimal(value, digits).value));
  };
  const inputMicros = highest('input_mtok', MICRO_DIGITS);
  // A model without a listed price is not free.
  if (inputMicros === null) return null;
  return {
    inputMicros,
    outputMicros: highest('output_mtok', MICRO_DIGITS),
    cachedInputMicros: highest('cache_read_mtok', MICRO_DIGITS),
    // The catalog's unit is 1,000 requests.
    flatRequestMicros: highest('requests_kcount', MICRO_DIGITS - 3) ?? 0,
  };
}

const MICRO_DIGITS = 6;

/** Some prices rise with the length of the prompt; this uses the first tier, which every request pays. */
function baseOf(price: ModelPrice[string]): number | null {
  return (typeof price === 'object' ? price.base : price) ?? null;
}

/**
 * Moves the decimal point to the right by editing digits: multiplying would turn 0.07 dollars into
 * 70,000.00000000001. Rounds any remaining digits and then reports the value as not exact.
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
