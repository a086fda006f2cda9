import { forget, giveBack, makeLate } from './lease.ts';
import type { Call } from './model.ts';
import { type EngineMemory, openCall, takeOut } from './operations.ts';
import { compareText } from './sorted-list.ts';
import { step } from './step.ts';

/** How long a late settlement still corrects the windows. Reconciliation finds what comes later. */
export const LATE_MS = 86_400_000;

/** Ends every expired lease, in the order of expiry. */
export function sweep(
  memory: EngineMemory,
  appendExpired: (draft: string, candidate: number) => void,
): { ended: number; ran: Call[] } {
  const nowMs = memory.nowMs();
  const expired = [...memory.leases.values()].filter(({ expiresMs }) => expiresMs <= nowMs);
  expired.sort((a, b) => a.expiresMs - b.expiresMs || compareText(a.operationId, b.operationId));
  const opened = new Map<string, Call>();
  for (const lease of expired) {
    const { organizationId } = lease;
    const within = opened.get(organizationId) ?? openCall(memory, organizationId);
    opened.set(organizationId, within);
    takeOut(within, lease);
    if (lease.state === 'dispatched') {
      appendExpired(lease.draft, lease.candidate);
      makeLate(within, lease, nowMs + LATE_MS);
    } else {
      if (lease.tried !== null) appendExpired(lease.tried.draft, lease.tried.candidate);
      giveBack(within, lease, null);
      forget(within, lease, null, 0);
    }
  }
  for (const [operationId, { expiresMs }] of memory.late) {
    if (expiresMs > nowMs) break;
    memory.late.delete(operationId);
  }
  for (const within of opened.values()) step(within);
  return { ended: expired.length, ran: [...opened.values()] };
}
