import type { Usage } from '../domain/money/usage.ts';

const TIER = /^[a-z0-9_.-]{1,50}$/;
/** What providers call the tier that costs the ordinary price. */
const STANDARD = new Set(['auto', 'default', 'standard', 'on_demand']);

/** The tier that served a request, as the provider reports it; nothing for the standard one. */
export function serviceTierIn(value: unknown): Pick<Usage, 'serviceTier'> {
  if (typeof value !== 'string' || !TIER.test(value) || STANDARD.has(value)) return {};
  return { serviceTier: value };
}
