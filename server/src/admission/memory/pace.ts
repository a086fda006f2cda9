import { isPaced } from '../../domain/limits/metric.ts';
import type { Window } from './model.ts';
import { placeOf, startOf } from './window.ts';

/** The time between two releases at the limit's own pace. At this distance the window itself delays none of them. */
export function intervalMs({ geometry, limit }: Window): number {
  return geometry === null ? 0 : (geometry.bucketMs * geometry.span) / limit;
}

/**
 * When pacing lets the next request go: at the limit's own pace, or, when more wait than that serves in time, at the slowest
 * pace at which the whole plan is kept. 0 for a limit that is not paced. Fractions of a millisecond carry over, so that several
 * requests can share one.
 */
export function paceNextMs(window: Window, nowMs: number): number {
  if (!isPaced(window)) return 0;
  const { paceKnown } = window;
  if (paceKnown.nowMs !== nowMs) {
    paceKnown.nextMs = computeNextMs(window, nowMs);
    paceKnown.nowMs = nowMs;
  }
  return paceKnown.nextMs;
}

function computeNextMs(window: Window, nowMs: number): number {
  const { paceMarkMs, plannedTotal, planned, plan } = window;
  let interval = intervalMs(window);
  if (paceMarkMs + interval <= nowMs) return paceMarkMs + interval;
  // The plan is the demand: by each place, everything that is reserved up to it has to be gone.
  let due = 0;
  const last = placeOf(window, plan.at(-1)?.slotMs ?? 0);
  for (let place = placeOf(window, nowMs); place <= last; place += 1) {
    const here = planned.get(place) ?? 0;
    due += here;
    const leftMs = Math.max(1, startOf(window, place) - paceMarkMs);
    if (here > 0) interval = Math.min(interval, leftMs / due);
    if (leftMs >= plannedTotal * interval) break;
  }
  return paceMarkMs + interval;
}

/**
 * Notes a release. The mark stays where the release was due, unless it lies ahead or more than a bucket behind: a timer that
 * comes late does not slow the pace down.
 */
export function markRelease(window: Window, nowMs: number, nextMs: number): void {
  const lateMs = nowMs - nextMs;
  const wasDue = lateMs >= 0 && lateMs <= (window.geometry?.bucketMs ?? 0);
  window.paceMarkMs = wasDue ? nextMs : nowMs;
  window.paceKnown.nowMs = -1;
}
