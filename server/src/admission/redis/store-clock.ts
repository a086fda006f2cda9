import { systemClock } from '../../kit/clock.ts';

/** How long an estimate of the store's clock is used after a better one was last seen. */
const ESTIMATE_MS = 60_000;

export interface StoreClock {
  /** A reply carried this time of the store; the call took so long. */
  told(storeMs: number, tookMs: number): void;
  /** How long ago a moment of the store was; 0 when nothing is known of its clock. */
  agoMs(storeMs: number): number;
}

/**
 * The store's time as well as this process can tell. A reply takes time to arrive, so each tells only that the store's clock is
 * at least so far ahead: the most that any recent reply told is the estimate, unless a reply is behind it by more than its call took, because the
 * store's clock was set back. Tests pass the clock itself.
 */
export function createStoreClock(nowMs?: () => number): StoreClock {
  const local = systemClock.monotonicMs;
  let aheadMs: number | null = null;
  let seenMs = 0;
  return {
    told(storeMs, tookMs) {
      const atMs = local();
      const ahead = storeMs - atMs;
      const isSetBack = aheadMs !== null && ahead + tookMs + 1 < aheadMs;
      if (aheadMs !== null && ahead < aheadMs && atMs - seenMs < ESTIMATE_MS && !isSetBack) return;
      aheadMs = ahead;
      seenMs = atMs;
    },
    agoMs(storeMs) {
      if (nowMs !== undefined) return Math.max(0, nowMs() - storeMs);
      return aheadMs === null ? 0 : Math.max(0, local() + aheadMs - storeMs);
    },
  };
}
