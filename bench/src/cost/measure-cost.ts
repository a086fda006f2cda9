import { checkoutOf } from '../checkouts/checkout.ts';
import { say } from '../command-line.ts';
import { ROOT } from '../gateways/gateway.ts';
import { measureRatios, PART_NAMES } from '../parts/ratios.ts';
import type { IsEnough, Measured } from './figures.ts';
import { measureReplays, REPLAY_NAMES } from './replays.ts';

/** In the order in which they are measured. */
export const FIGURES: readonly string[] = [...PART_NAMES, ...REPLAY_NAMES];

const STARTS = 3;
const ROUNDS = 8;

/**
 * The figures of these names, from processes of their own: of parts beside those of the commit `base`. `effort`: how many times as much
 * is measured at most.
 */
export async function measureCost(
  names: readonly string[],
  base: string,
  { effort = 1, isEnough = () => false }: { effort?: number; isEnough?: IsEnough } = {},
): Promise<Measured> {
  const parts = PART_NAMES.filter((name) => names.includes(name));
  const replays = REPLAY_NAMES.filter((name) => names.includes(name));
  const measured =
    parts.length > 0 ? await measureParts(parts, base, { starts: STARTS * effort, isEnough }) : {};
  if (replays.length === 0) return measured;
  const costs = await measureReplays(replays, { rounds: ROUNDS * effort, isEnough });
  return {
    ...measured,
    ...Object.fromEntries(costs.map(({ name, ratio, spread }) => [name, { ratio, spread }])),
  };
}

async function measureParts(
  names: readonly string[],
  base: string,
  { starts, isEnough }: { starts: number; isEnough: IsEnough },
): Promise<Measured> {
  say(`${names.join(', ')}: up to ${starts} starts, beside those of ${base}`);
  const checkout = checkoutOf(ROOT, base);
  const ratios = await measureRatios(names, { own: ROOT, base: checkout.root }, { starts, isEnough });
  checkout.remove();
  return Object.fromEntries(names.map((name) => [name, { ratio: ratios[name] ?? Number.NaN, spread: 1 }]));
}
