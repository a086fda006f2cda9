import type { LimitUsage } from '@relay/contract';
import { isCalendar, runsOutAt } from '../../parts/limit-window.ts';

/** A limit that is used up, or will be before it resets. */
export interface LimitEnd {
  readonly usage: LimitUsage;
  readonly atMs: number;
}

/** The limits that reject requests now or before they reset, the first to run out first. */
export function limitEnds(all: readonly LimitUsage[], nowMs: number): readonly LimitEnd[] {
  return all
    .flatMap((usage): LimitEnd[] => {
      // At limits per second or minute and on concurrency, requests wait; capacity is soon free again.
      if (!isCalendar(usage.period) || usage.limit === 0) return [];
      if (usage.remaining === 0) return [{ usage, atMs: nowMs }];
      const atMs = runsOutAt(usage, nowMs);
      return atMs === null ? [] : [{ usage, atMs }];
    })
    .toSorted((a, b) => a.atMs - b.atMs);
}

/** The least remaining share first. */
export function tightestOf(all: readonly LimitUsage[]): readonly LimitUsage[] {
  const left = ({ limit, remaining }: LimitUsage) => (limit === 0 ? 0 : remaining / limit);
  return all.toSorted((a, b) => left(a) - left(b));
}
