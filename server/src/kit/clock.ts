/** Where code gets the time from, so that tests can hold it still. */
export interface Clock {
  /** Milliseconds since the epoch, for records and expiries. */
  nowMs(): number;
  /** Milliseconds on a clock that never steps back, for measuring how long something took. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
