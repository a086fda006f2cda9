import type { NextLimit } from '@relay/contract';
import { CLOSE_SHARE } from '../../parts/limit-metrics.ts';

/** A limit that is reached next, at a forecast time; null for one that is nearly used up without a forecast. */
export interface NextToReach {
  readonly usage: NextLimit;
  readonly atMs: number | null;
}

export interface LimitGroups {
  /** No capacity is left until they reset. */
  readonly reached: readonly NextLimit[];
  /** Those with a forecast first, soonest first. */
  readonly next: readonly NextToReach[];
  readonly lasting: readonly NextLimit[];
}

/** Tells apart the limits that are reached, those reached next, and those that last; each in the order of the server. */
export function groupLimits(limits: readonly NextLimit[], nowMs: number): LimitGroups {
  const reached = limits.filter((usage) => isReached(usage, nowMs));
  const others = limits.filter((usage) => !isReached(usage, nowMs));
  const forecast = others.flatMap((usage): NextToReach[] =>
    usage.runs_out_at === null ? [] : [{ usage, atMs: Date.parse(usage.runs_out_at) }],
  );
  const quiet = others.filter(({ runs_out_at: at }) => at === null);
  const close = quiet.filter(isClose).map((usage): NextToReach => ({ usage, atMs: null }));
  return { reached, next: [...forecast, ...close], lasting: quiet.filter((usage) => !isClose(usage)) };
}

function isReached({ remaining, runs_out_at: at }: NextLimit, nowMs: number): boolean {
  return remaining <= 0 || (at !== null && Date.parse(at) <= nowMs);
}

function isClose({ remaining, limit }: NextLimit): boolean {
  return 1 - remaining / limit >= CLOSE_SHARE;
}
