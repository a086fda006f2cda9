import type { Charge } from '../../domain/limits/limit.ts';
import { isPaced, METRICS } from '../../domain/limits/metric.ts';
import { isSliding } from '../../domain/limits/period.ts';
import { earliestInCalendar } from '../calendar-window.ts';
import { NEVER_MS, type Placement } from '../choose-candidate.ts';
import type { AdmissionAsk, CandidateAsk } from '../engine.ts';
import type { EngineMemory } from './engine-memory.ts';
import { comesBefore } from './lease.ts';
import { earliestInSliding, GEOMETRY } from './sliding-window.ts';
import { calendarOf, type Lease, type OrganizationState, slidingOf } from './state.ts';

/** How often the limits of a candidate may push its slot further before it counts as unplaceable. */
const PASSES_MAX = 64;

/** The earliest moment at which every limit of the candidate has room, and the limit that delays it. */
export function place(
  memory: EngineMemory,
  ask: AdmissionAsk,
  held: Lease | undefined,
  candidate: CandidateAsk,
  now: number,
): Placement {
  const exceeding = candidate.charges.find(({ policy, cost }) => cost > policy.limit);
  if (exceeding !== undefined) {
    return { slotMs: NEVER_MS, boundBy: null, exceeds: exceeding.policy.id, blockedBy: null };
  }
  const state = memory.stateOf(ask.organizationId);
  const cooldownMs = state.cooldowns.get(candidate.endpointId) ?? 0;
  const fromMs = Math.max(now, cooldownMs, slotBefore(memory, ask, held));
  // A request that had a slot was paced already. If it can be dispatched now, pacing does not delay it again.
  const unused = held?.state === 'dispatched' && ask.release?.dispatched === false;
  const wasPaced = unused || (held?.state === 'waiting' && held.slotMs <= now);
  let found = earliest(state, candidate, fromMs, candidate.paced && !wasPaced);
  if (candidate.paced && wasPaced && found.slotMs > now) found = earliest(state, candidate, fromMs, true);
  // Pacing may delay a request, but it never makes one miss its deadline.
  if (candidate.paced && found.slotMs > now + ask.waitMsMax)
    found = earliest(state, candidate, fromMs, false);
  const { organizationId, operationId } = ask;
  const asked = { organizationId, operationId, arrivedMs: held?.arrivedMs ?? now };
  const blockedBy = found.slotMs > now ? null : blockedConcurrency(memory, asked, candidate.charges);
  return { ...found, exceeds: null, blockedBy };
}

/**
 * The slot in its queue that the request must not overtake. A new request follows the latest slot of the queue. One that
 * asks again follows the request that arrived just before it, so that later arrivals do not delay it.
 */
function slotBefore({ stateOf, leases }: EngineMemory, ask: AdmissionAsk, held: Lease | undefined): number {
  let lastSlotMs = 0;
  let before: Lease | undefined;
  for (const id of stateOf(ask.organizationId).queues.get(ask.queue) ?? []) {
    const lease = leases.get(id);
    if (id === ask.operationId || lease?.state !== 'waiting') continue;
    lastSlotMs = Math.max(lastSlotMs, lease.slotMs);
    if (held === undefined || !comesBefore(lease, id, held, ask.operationId)) continue;
    if (before === undefined || comesBefore(before, before.operationId, lease, id)) before = lease;
  }
  return held === undefined ? lastSlotMs : (before?.slotMs ?? 0);
}

/** The first concurrency limit without a unit for this operation, counting those ahead in line; null when there is none. */
export function blockedConcurrency(
  { stateOf, leases }: EngineMemory,
  asked: Pick<Lease, 'organizationId' | 'operationId' | 'arrivedMs'>,
  charges: readonly Charge[],
): string | null {
  const state = stateOf(asked.organizationId);
  for (const { policy } of charges) {
    if (!METRICS[policy.metric].held) continue;
    let ahead = 0;
    for (const id of state.lines.get(policy.id) ?? []) {
      const other = leases.get(id);
      if (other === undefined || id === asked.operationId) continue;
      if (comesBefore(other, id, asked, asked.operationId)) ahead += 1;
    }
    if ((state.holders.get(policy.id)?.size ?? 0) + ahead >= policy.limit) return policy.id;
  }
  return null;
}

/** The first moment, not before `fromMs`, at which every window of the candidate has room. */
function earliest(
  state: OrganizationState,
  candidate: CandidateAsk,
  fromMs: number,
  paced: boolean,
): { slotMs: number; boundBy: string | null } {
  let slotMs = fromMs;
  let boundBy: string | null = null;
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const before = slotMs;
    for (const charge of candidate.charges) {
      const nextMs = earliestFor(state, charge, slotMs, paced);
      if (nextMs <= slotMs) continue;
      slotMs = nextMs;
      boundBy = charge.policy.id;
    }
    if (slotMs === before) return { slotMs, boundBy };
  }
  return { slotMs: NEVER_MS, boundBy };
}

function earliestFor(
  state: OrganizationState,
  { policy, cost }: Charge,
  fromMs: number,
  paced: boolean,
): number {
  const { period, limit } = policy;
  if (period === 'none') return fromMs;
  if (!isSliding(period)) {
    return earliestInCalendar(calendarOf(state, policy) ?? new Map(), period, limit, cost, fromMs);
  }
  const window = slidingOf(state, policy);
  const pacedMs = paced && isPaced(policy) ? Math.max(fromMs, Math.floor(window.paceNextMs)) : fromMs;
  return earliestInSliding(window, GEOMETRY[period], limit, cost, pacedMs);
}
