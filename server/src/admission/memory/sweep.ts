import type { EngineMemory } from './engine-memory.ts';
import { giveBack } from './release.ts';

/** Ends every expired lease, in the order of expiry, and returns how many. */
export function sweep(
  memory: EngineMemory,
  appendExpired: (draft: string, candidate: number) => void,
): number {
  const now = memory.nowMs();
  const expired = [...memory.leases.values()].filter(({ expiresMs }) => expiresMs <= now);
  expired.sort((a, b) => a.expiresMs - b.expiresMs || (a.operationId < b.operationId ? -1 : 1));
  for (const lease of expired) {
    if (lease.state === 'dispatched') {
      // The actual usage is unknown, so the charges stay at their estimate.
      appendExpired(lease.draft, lease.candidate);
      lease.postings = [];
    } else if (lease.tried !== null) {
      appendExpired(lease.tried.draft, lease.tried.candidate);
    }
    giveBack(memory, lease, null, now);
  }
  return expired.length;
}
