import { windowStartMs } from '../../admission/calendar-window.ts';
import { isExpiredEstimate } from '../../domain/expired-draft.ts';
import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { isSliding } from '../../domain/limits/period.ts';
import type { JudgeDeps, Seen } from './seen.fixture.ts';

/** After everything has ended: no lease, place, reservation or unit is left, and calendar windows hold what the ledger says. */
export async function judgeCounters(deps: JudgeDeps, seen: Seen): Promise<string[]> {
  return [...leftovers(deps), ...(await drifts(deps, seen))];
}

function leftovers({ store, ledger }: JudgeDeps): string[] {
  const { memory } = store.engine();
  const left = [...memory.leases.keys()].map((id) => `left: the lease of ${id}`);
  for (const [id, { charges }] of memory.late) {
    const row = ledger.rows.get(id);
    // A settlement that was lost unnoticed is not sent again. Reconciliation has corrected what the windows count.
    const isOwed = row !== undefined && !isExpiredEstimate(row.error_code, row.usage_source);
    if (isOwed && charges.length > 0 && store.unnoticedLosses() === 0)
      left.push(`left: what ${id} was charged, which its row does not say`);
  }
  for (const [organizationId, { line, windows, units }] of memory.states) {
    if (line !== null) left.push(`left: ${organizationId} has a line of ${line.waiting.size}`);
    for (const { key, plan, plannedTotal } of windows.values())
      if (plan.length + plannedTotal > 0) left.push(`left: ${key} has ${plannedTotal} reserved`);
    for (const { key, holders } of units.values())
      if (holders.size > 0) left.push(`left: ${key} is held by ${[...holders].join()}`);
  }
  if (store.streams().length() > 0) left.push(`left: ${store.streams().length()} entries in the streams`);
  return left;
}

async function drifts({ store, ledger, time }: JudgeDeps, seen: Seen): Promise<string[]> {
  const found: string[] = [];
  for (const [organizationId, limits] of limitsOf(seen)) {
    const usages = await store.engine().usage(organizationId, limits);
    for (const [index, limit] of limits.entries()) {
      const { period, metric } = limit;
      const usage = usages[index];
      if (usage === undefined || usage.mark === null || period === 'none' || isSliding(period)) continue;
      const sum = ledger.sum(organizationId, limit, windowStartMs(period, time.nowMs()));
      if (usage.used !== sum)
        found.push(
          `counters: ${organizationId} ${limit.id} counts ${usage.used} ${metric}, the ledger ${sum}`,
        );
    }
  }
  return found;
}

function limitsOf({ charges, arrivals }: Seen): Map<string, AppliedLimit[]> {
  const all = new Map<string, Map<string, AppliedLimit>>();
  for (const [operationId, byEndpoint] of charges) {
    const organizationId = arrivals.get(operationId)?.organizationId ?? '';
    const limits = all.get(organizationId) ?? new Map<string, AppliedLimit>();
    all.set(organizationId, limits);
    for (const list of byEndpoint.values()) for (const { policy } of list) limits.set(policy.id, policy);
  }
  return new Map([...all].map(([organizationId, limits]) => [organizationId, [...limits.values()]]));
}
