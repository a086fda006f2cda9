import type { Spend } from '@relay/contract';
import { exactUsd, shownMicros } from '../../domain/money/money.ts';

type WireCost = Pick<
  Spend['today'],
  'cost_micros' | 'cost_usd' | 'fallback_cost_micros' | 'fallback_cost_usd'
>;

/** Returns a sum of costs, and the part for attempts that another attempt followed. */
export function wireCost(picos: bigint, fallbackPicos: bigint): WireCost {
  return {
    cost_micros: shownMicros(picos),
    cost_usd: exactUsd(picos),
    ...wireFallbackCost(fallbackPicos),
  };
}

export function wireFallbackCost(picos: bigint) {
  return { fallback_cost_micros: shownMicros(picos), fallback_cost_usd: exactUsd(picos) };
}
