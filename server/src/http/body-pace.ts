import type { Clock } from '../kit/clock.ts';

/** How fast an organization may send large bodies, after one of the largest size. Reading and relaying 20 MB takes the event loop 50 ms. */
const BYTES_PER_MS = (32 * 1024 * 1024) / 1_000;
const AHEAD_MS = 1_000;
/** Organizations that are kept; those that have sent nothing for a second make room. */
const KEPT_MAX = 1_000;

/** Large bodies share the time of one event loop with everybody's requests. An organization that sends many of them is slowed down. */
export interface BodyPace {
  /** How long to pause after these bytes of an organization's large bodies. */
  pauseMs(organizationId: string, bytes: number): number;
}

export function createBodyPace(clock: Pick<Clock, 'monotonicMs'>): BodyPace {
  /** When each organization's bytes so far would have arrived at that speed. */
  const dueMs = new Map<string, number>();
  return {
    pauseMs(organizationId, bytes) {
      const nowMs = clock.monotonicMs();
      if (dueMs.size >= KEPT_MAX)
        for (const [each, due] of dueMs) if (due <= nowMs - AHEAD_MS) dueMs.delete(each);
      const due = Math.max(dueMs.get(organizationId) ?? 0, nowMs - AHEAD_MS) + bytes / BYTES_PER_MS;
      dueMs.set(organizationId, due);
      return Math.max(0, due - nowMs);
    },
  };
}
