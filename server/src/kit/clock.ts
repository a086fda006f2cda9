/** The source of time, so that tests can control it. */
export interface Clock {
  /** Milliseconds since the epoch, for records and expiries. */
  nowMs(): number;
  /** Milliseconds on a monotonic clock, for durations. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** How far clocks may differ: less than this is the error of measuring them, or is corrected by NTP soon. */
export const CLOCKS_DIFFER_MS_MAX = 2_000;

/** Keeps the time of the deployment, whatever the clock of this machine says. */
export interface FollowingClock extends Clock {
  /** The deployment's time at a moment of the monotonic clock. */
  follow(timeMs: number, atMonotonicMs: number): void;
}

/**
 * The machine's own time while it agrees with the one that it follows. Where it does not, because the machine's clock is wrong or was
 * set, the time that was told last, continued by the monotonic clock, which cannot be set.
 */
export function createFollowingClock(own: Clock = systemClock): FollowingClock {
  let aheadOfMonotonicMs: number | null = null;
  return {
    monotonicMs: own.monotonicMs,
    nowMs() {
      const ownMs = own.nowMs();
      if (aheadOfMonotonicMs === null) return ownMs;
      const keptMs = Math.floor(own.monotonicMs() + aheadOfMonotonicMs);
      return Math.abs(ownMs - keptMs) <= CLOCKS_DIFFER_MS_MAX ? ownMs : keptMs;
    },
    follow(timeMs, atMonotonicMs) {
      aheadOfMonotonicMs = timeMs - atMonotonicMs;
    },
  };
}
