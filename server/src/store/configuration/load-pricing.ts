import type { PricingPolicy } from '@relay/contract';
import type { Kysely } from 'kysely';
import type { Prices, PriceVariant, Pricing } from '../../domain/snapshot.ts';
import type { Database } from '../postgres/schema.ts';

const FIELDS = {
  input_cost_micros_per_1m_tokens: 'inputCostMicrosPer1mTokens',
  output_cost_micros_per_1m_tokens: 'outputCostMicrosPer1mTokens',
  cached_input_cost_micros_per_1m_tokens: 'cachedInputCostMicrosPer1mTokens',
  cache_write_5m_cost_micros_per_1m_tokens: 'cacheWrite5mCostMicrosPer1mTokens',
  cache_write_1h_cost_micros_per_1m_tokens: 'cacheWrite1hCostMicrosPer1mTokens',
  audio_input_cost_micros_per_1m_tokens: 'audioInputCostMicrosPer1mTokens',
  image_input_cost_micros_per_1m_tokens: 'imageInputCostMicrosPer1mTokens',
  reasoning_cost_micros_per_1m_tokens: 'reasoningCostMicrosPer1mTokens',
  audio_output_cost_micros_per_1m_tokens: 'audioOutputCostMicrosPer1mTokens',
  image_output_cost_micros_per_1m_tokens: 'imageOutputCostMicrosPer1mTokens',
  flat_request_cost_micros: 'flatRequestCostMicros',
} as const satisfies Record<string, keyof Prices>;

type StoredPrices = { readonly [Field in keyof typeof FIELDS]?: number | null };
type StoredVariant = PricingPolicy['variants'][number];
/** A row of prices, or prices that begin at a date. */
type StoredSheet = StoredPrices &
  Pick<PricingPolicy, 'input_cost_micros_per_1m_tokens' | 'output_cost_micros_per_1m_tokens'> & {
    readonly variants?: readonly StoredVariant[];
  };
type StoredPolicy = StoredSheet & Pick<PricingPolicy, 'scheduled'>;

type Scheduled = PricingPolicy['scheduled'];

/** The scheduled prices that began last; undefined when none has. */
export function begunSheet(scheduled: Scheduled, nowMs: number): Scheduled[number] | undefined {
  return scheduled
    .filter(({ valid_from }) => Date.parse(valid_from) <= nowMs)
    .toSorted((one, other) => Date.parse(one.valid_from) - Date.parse(other.valid_from))
    .at(-1);
}

/** The prices in force at a time. */
export function pricingAt(policy: StoredPolicy, nowMs: number): Pricing {
  const { variants = [], ...sheet }: StoredSheet = begunSheet(policy.scheduled, nowMs) ?? policy;
  return {
    ...pricesIn(sheet),
    inputCostMicrosPer1mTokens: sheet.input_cost_micros_per_1m_tokens,
    outputCostMicrosPer1mTokens: sheet.output_cost_micros_per_1m_tokens,
    cachedInputCostMicrosPer1mTokens: sheet.cached_input_cost_micros_per_1m_tokens ?? null,
    flatRequestCostMicros: sheet.flat_request_cost_micros ?? 0,
    ...(variants.length > 0 && { variants: variants.map(toVariant) }),
  };
}

/** An endpoint's prices at a time, as its policy says it now: a policy that was changed since has no record of its earlier prices. */
export async function readPricingAt(
  db: Kysely<Database>,
  organizationId: string,
  endpointId: string,
  atMs: number,
): Promise<Pricing | undefined> {
  const policy = await db
    .selectFrom('pricing_policies')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('endpoint_id', '=', endpointId)
    .executeTakeFirst();
  return policy === undefined ? undefined : pricingAt(policy, atMs);
}

/** When the next scheduled price of any policy begins; null when none does. */
export function nextPriceAtMs(
  policies: readonly Pick<StoredPolicy, 'scheduled'>[],
  nowMs: number,
): number | null {
  const starts = policies.flatMap(({ scheduled }) =>
    scheduled.map(({ valid_from }) => Date.parse(valid_from)),
  );
  const ahead = starts.filter((startMs) => startMs > nowMs);
  return ahead.length === 0 ? null : Math.min(...ahead);
}

function toVariant({ service_tier, above_input_tokens, ...prices }: StoredVariant): PriceVariant {
  return {
    ...pricesIn(prices),
    ...(service_tier !== undefined && { serviceTier: service_tier }),
    ...(above_input_tokens !== undefined && { aboveInputTokens: above_input_tokens }),
  };
}

/** Those that are set. */
function pricesIn(stored: StoredPrices): Partial<Prices> {
  const set = Object.entries(FIELDS).flatMap(([field, name]) => {
    const price = stored[field as keyof StoredPrices];
    return price === undefined || price === null ? [] : [[name, price]];
  });
  return Object.fromEntries(set);
}
