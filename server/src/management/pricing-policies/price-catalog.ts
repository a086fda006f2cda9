import type { ConditionalPrice, ModelInfo, ModelPrice, Tier } from '@pydantic/genai-prices';
import type { PricingPolicy } from '@relay/contract';
import { shiftDecimal } from '@relay/contract/price-list';

/** A model's price in the catalog, by the names of the contract: whole micro-USD per million tokens and per request. */
export interface CatalogPrice
  extends Pick<PricingPolicy, Exclude<PriceName, 'output_cost_micros_per_1m_tokens'> | 'variants'> {
  /** Null when the catalog only prices input, as for embedding models. */
  readonly output_cost_micros_per_1m_tokens: number | null;
}

/** What the catalog calls each price, and by how many digits its unit is larger. */
const NAMES = {
  input_cost_micros_per_1m_tokens: ['input_mtok', 6],
  output_cost_micros_per_1m_tokens: ['output_mtok', 6],
  cached_input_cost_micros_per_1m_tokens: ['cache_read_mtok', 6],
  cache_write_5m_cost_micros_per_1m_tokens: ['cache_write_mtok', 6],
  cache_write_1h_cost_micros_per_1m_tokens: ['cache_write_1h_mtok', 6],
  audio_input_cost_micros_per_1m_tokens: ['input_audio_mtok', 6],
  image_input_cost_micros_per_1m_tokens: ['input_image_mtok', 6],
  reasoning_cost_micros_per_1m_tokens: ['output_reasoning_mtok', 6],
  audio_output_cost_micros_per_1m_tokens: ['output_audio_mtok', 6],
  image_output_cost_micros_per_1m_tokens: ['output_image_mtok', 6],
  // The catalog's unit is 1,000 requests.
  flat_request_cost_micros: ['requests_kcount', 3],
} as const satisfies Partial<Record<keyof PricingPolicy, readonly [string, number]>>;
type PriceName = keyof typeof NAMES;
const PRICE_NAMES = Object.keys(NAMES) as PriceName[];

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
  const found = await findModel(asked);
  return found === null ? null : priceOf(pricesInForce(found, asked.atMs));
}

/** The context window of a model in the catalog; null when it has none. */
export async function findContextWindow(asked: PricedModel): Promise<number | null> {
  return (await findModel(asked))?.context_window ?? null;
}

async function findModel(asked: PricedModel): Promise<ModelInfo | null> {
  // Loaded on demand: the package is large, and a process that only serves inference does not need it.
  const { calcPrice } = await import('@pydantic/genai-prices');
  const { origin, pathname } = new URL(asked.baseUrl);
  const providerApiUrl = origin + pathname;
  return calcPrice({}, asked.model, { providerApiUrl, timestamp: new Date(asked.atMs) })?.model ?? null;
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
  const base = pricesAt(prices, -1, PRICE_NAMES);
  const { input_cost_micros_per_1m_tokens: input } = base;
  // A model without a listed price is not free.
  if (input === undefined) return null;
  const unset = Object.fromEntries(PRICE_NAMES.map((name) => [name, null])) as Record<PriceName, null>;
  return {
    ...unset,
    ...base,
    input_cost_micros_per_1m_tokens: input,
    flat_request_cost_micros: base.flat_request_cost_micros ?? 0,
    variants: tiersOf(prices),
  };
}

/** Prices that rise with the length of the input: one variant for each length at which any of them does. */
function tiersOf(prices: readonly ModelPrice[]): CatalogPrice['variants'] {
  const tiered = PRICE_NAMES.filter((name) =>
    prices.some((price) => tiersIn(price[NAMES[name][0]]).length > 0),
  );
  const starts = prices.flatMap((price) =>
    tiered.flatMap((name) => tiersIn(price[NAMES[name][0]]).map(({ start }) => start)),
  );
  return [...new Set(starts)]
    .toSorted((one, other) => one - other)
    .map((start) => ({ above_input_tokens: start, ...pricesAt(prices, start, tiered) }));
}

/** The highest known of each price for an input that is longer than this. */
function pricesAt(
  prices: readonly ModelPrice[],
  above: number,
  names: readonly PriceName[],
): Partial<Record<PriceName, number>> {
  const found = names.flatMap((name) => {
    const [listed, digits] = NAMES[name];
    const known = prices.map((price) => valueAt(price[listed], above)).filter((value) => value !== null);
    if (known.length === 0) return [];
    return [[name, Math.max(...known.map((value) => shiftDecimal(value, digits).value))]];
  });
  return Object.fromEntries(found);
}

function tiersIn(price: ModelPrice[string]): readonly Tier[] {
  return typeof price === 'object' ? price.tiers : [];
}

function valueAt(price: ModelPrice[string], above: number): number | null {
  if (typeof price !== 'object') return price ?? null;
  return price.tiers.findLast(({ start }) => start <= above)?.price ?? price.base;
}
