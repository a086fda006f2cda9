import type { Charge } from '../domain/limits/limit.ts';
import { isSliding } from '../domain/limits/period.ts';
import { GEOMETRY } from './memory/window.ts';

/** How late after it was let go a request may be dispatched: one bucket of the shortest window that it is charged to. */
export function latenessMsMax(charges: readonly Charge[]): number {
  let boundMs = Number.POSITIVE_INFINITY;
  for (const { policy } of charges)
    if (isSliding(policy.period)) boundMs = Math.min(boundMs, GEOMETRY[policy.period].bucketMs);
  // A process that is slower than the shortest bucket would ask forever.
  return Math.max(GEOMETRY.second.bucketMs, boundMs);
}
