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
