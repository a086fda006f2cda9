import type { Prices, PriceVariant, Pricing } from '../snapshot.ts';
import type { Usage } from './usage.ts';

/** What decides which prices a request pays. */
export type PricedBy = Pick<Usage, 'inputTokens' | 'serviceTier'>;

/** The prices of one request: by its service tier, and by how long its input is. */
export function pricesFor(pricing: Pricing, of: PricedBy): Prices {
  const { variants } = pricing;
  if (variants === undefined) return pricing;
  return variants.filter((variant) => applies(variant, of)).reduce<Prices>(withVariant, pricing);
}

function applies({ serviceTier, aboveInputTokens }: PriceVariant, of: PricedBy): boolean {
  if (serviceTier !== undefined && serviceTier !== of.serviceTier) return false;
  return aboveInputTokens === undefined || of.inputTokens > aboveInputTokens;
}

function withVariant(
  prices: Prices,
  { serviceTier: _, aboveInputTokens: __, ...others }: PriceVariant,
): Prices {
  return { ...prices, ...others };
}
