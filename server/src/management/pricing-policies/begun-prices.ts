import type { PricingPolicy } from '@relay/contract';
import { begunSheet } from '../../store/configuration/load-pricing.ts';
import { INTEGER_MAX, type SentPrices } from './wire.ts';

/**
 * What a change of prices starts from when it says nothing of scheduled ones: the prices in force. Once a scheduled price has begun, a new
 * price that stood below it would change nothing. Null when none has begun.
 */
export function begunPrices(scheduled: PricingPolicy['scheduled'], nowMs: number): SentPrices | null {
  const begun = begunSheet(scheduled, nowMs);
  if (begun === undefined) return null;
  const { valid_from: _date, variants = [], ...prices } = begun;
  const unset = Object.fromEntries(Object.keys(INTEGER_MAX).map((field) => [field, null]));
  return {
    ...unset,
    flat_request_cost_micros: 0,
    ...prices,
    variants,
    scheduled: scheduled.filter(({ valid_from }) => Date.parse(valid_from) > nowMs),
  };
}
