import type { Round } from '../rounds.ts';
import { median, rounded, type Spread, spread } from '../statistics.ts';
import type { Name } from './gateways.ts';

/** Of a part: its ratios to the other checkout; empty without one. */
export function toBefore(part: string, ratios: readonly number[] | null): Record<string, Spread> {
  return ratios === null ? {} : { [`${part}_ratio_before`]: spread(ratios, 3) };
}

/** How much of the gateways' core other processes used, in the middle slice. */
export function othersShareOf(
  names: readonly Name[],
  rounds: readonly Round<Name, { readonly othersShare: number }>[],
): number {
  return rounded(median(rounds.flatMap((round) => names.map((name) => round[name].othersShare))), 3);
}
