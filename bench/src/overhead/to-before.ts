import { type Spread, spread } from '../statistics.ts';

/** Of a part: its ratios to the other checkout; empty without one. */
export function toBefore(part: string, ratios: readonly number[] | null): Record<string, Spread> {
  return ratios === null ? {} : { [`${part}_ratio_before`]: spread(ratios, 3) };
}
