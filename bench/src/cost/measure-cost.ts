import { checkoutOf } from '../checkouts/checkout.ts';
import { say } from '../command-line.ts';
import { ROOT } from '../gateways/gateway.ts';
import { measureRatios, PART_NAMES } from '../parts/ratios.ts';
import type { Measured } from './figures.ts';
import { REPLAY_NAMES, startReplays } from './replays.ts';

/** In the order in which they are measured. */
export const FIGURES: readonly string[] = [...PART_NAMES, ...REPLAY_NAMES];

const STARTS = 2;
const ROUNDS = 8;

/**
 * The figures of these names, from processes of their own: of parts beside those of the commit `base`. `effort`: how many times as much
 * is measured.
 */
export async function measureCost(names: readonly string[], base: string, effort = 1): Promise<Measured> {
  const parts = PART_NAMES.filter((name) => names.includes(name));
  const replays = REPLAY_NAMES.filter((name) => names.includes(name));
  return {
    ...(parts.length > 0 ? await measureParts(parts, base, STARTS * effort) : {}),
    ...(replays.length > 0 ? await measureReplays(replays, ROUNDS * effort) : {}),
  };
}

async function measureParts(names: readonly string[], base: string, starts: number): Promise<Measured> {
  say(`${names.join(', ')}: ${starts} starts, beside those of ${base}`);
  const checkout = checkoutOf(ROOT, base);
  const ratios = await measureRatios(ROOT, checkout.root, starts);
  checkout.remove();
  return Object.fromEntries(names.map((name) => [name, { ratio: ratios[name] ?? Number.NaN, spread: 1 }]));
}

async function measureReplays(names: readonly string[], rounds: number): Promise<Measured> {
  const replays = await startReplays();
  try {
    const costs = await replays.measure(names, rounds);
    return Object.fromEntries(costs.map(({ name, ratio, spread }) => [name, { ratio, spread }]));
  } finally {
    await replays.stop();
  }
}
