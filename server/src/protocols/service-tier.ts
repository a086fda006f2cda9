import type { Usage } from '../domain/money/usage.ts';

const TIER = /^[a-z0-9_.-]{1,50}$/;
/** What providers call the tier that costs the ordinary price. */
const STANDARD = new Set(['auto', 'default', 'standard', 'on_demand']);

/** Matches a frame that names a tier with a price of its own. */
export const OTHER_TIER = `"service_tier"\\s*:\\s*"(?!(?:${[...STANDARD].join('|')})")`;

/** Returns the tier that a frame names. Null: the standard tier. No member: the frame names none. */
export function tierSaid(value: unknown): { readonly serviceTier?: string | null } {
  if (typeof value !== 'string' || !TIER.test(value)) return {};
  return { serviceTier: STANDARD.has(value) ? null : value };
}

/** The tier that served a request, as the provider reports it; nothing for the standard one. */
export function serviceTierIn(value: unknown): Pick<Usage, 'serviceTier'> {
  if (typeof value !== 'string' || !TIER.test(value) || STANDARD.has(value)) return {};
  return { serviceTier: value };
}
