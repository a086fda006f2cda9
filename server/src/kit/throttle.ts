import type { Clock } from './clock.ts';

/** Answers true at most once per interval, so that an outage does not fill the log. */
export function createThrottle(clock: Pick<Clock, 'monotonicMs'>, everyMs = 10_000): () => boolean {
  let lastMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - lastMs < everyMs) return false;
    lastMs = nowMs;
    return true;
  };
}
