import type { Clock } from '../../kit/clock.ts';
import type { Fences } from './fences.ts';

/** A fence as read at a moment. */
export interface KnownFence {
  readonly version: number;
  /** Monotonic time when the read began. The version includes everything confirmed before. */
  readonly readMs: number;
}

/** Fences that remember the last read, for callers that accept a slightly older answer. */
export interface KnownFences extends Fences {
  known(organizationId: string): KnownFence | undefined;
}

/** As many organizations as snapshots are held of. */
const ORGANIZATIONS_MAX = 10_000;

export function rememberFences(fences: Fences, clock: Pick<Clock, 'monotonicMs'>): KnownFences {
  /** The least recently read first. */
  const known = new Map<string, KnownFence>();

  function remember(organizationId: string, fence: KnownFence): void {
    const before = known.get(organizationId);
    if (before !== undefined && before.readMs > fence.readMs) return;
    known.delete(organizationId);
    known.set(organizationId, fence);
    if (known.size <= ORGANIZATIONS_MAX) return;
    for (const oldest of known.keys()) {
      known.delete(oldest);
      return;
    }
  }

  return {
    ...fences,
    known: (organizationId) => known.get(organizationId),
    async read(organizationId) {
      const readMs = clock.monotonicMs();
      const version = await fences.read(organizationId);
      remember(organizationId, { version, readMs });
      return version;
    },
  };
}
