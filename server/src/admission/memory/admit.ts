import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { choose } from '../choose-candidate.ts';
import type { AdmissionAnswer, AdmissionAsk, WindowState } from '../engine.ts';
import { RETRY_UNKNOWN_MS, refusal } from '../refusal.ts';
import type { EngineMemory } from './engine-memory.ts';
import {
  chargesOf,
  chosenOf,
  concurrencyOf,
  fingerprint,
  leaseOf,
  policiesOf,
  triedBefore,
} from './lease.ts';
import { blockedConcurrency, place } from './placement.ts';
import { forget, giveBack, keepTried, leaveLine, wakeNext } from './release.ts';
import { latenessMsMax } from './sliding-window.ts';
import { addTo, type Lease, type OrganizationState, post, removeFrom, usageOf } from './state.ts';

type UnknownWindows = (organizationId: string, limits: readonly AppliedLimit[]) => AppliedLimit[];

export function admit(memory: EngineMemory, ask: AdmissionAsk, unknown: UnknownWindows): AdmissionAnswer {
  const now = memory.nowMs();
  const held = memory.leases.get(ask.operationId);
  if (held?.state === 'dispatched' && ask.release === undefined) return admitted(memory, held, now);
  const missing = unknown(ask.organizationId, policiesOf(ask.candidates));
  if (missing.length > 0) return { kind: 'rebuild', policyIds: missing.map(({ id }) => id) };
  if (held?.state === 'dispatched') giveBack(memory, held, ask.release ?? null, now);
  if (held?.state === 'waiting') {
    if (keepsItsSlot(memory, held, ask, now)) {
      if (held.slotMs > now) return waitFor(held, now, null);
      if (blockedConcurrency(memory, held, chargesOf(held)) === null) {
        held.expiresMs = now + ask.leaseMs;
        return dispatch(memory, held, now);
      }
    }
    giveBack(memory, held, null, now);
  }
  return decide(memory, ask, held, now);
}

/**
 * Writes an operation again that was dispatched before the store lost it. It is in flight, so no limit is checked.
 * Returns false when its windows have to be rebuilt first.
 */
export function restore(
  memory: EngineMemory,
  ask: AdmissionAsk,
  candidate: number,
  agoMs: number,
  unknown: UnknownWindows,
): boolean {
  const now = memory.nowMs();
  if (memory.leases.has(ask.operationId)) return true;
  if (unknown(ask.organizationId, policiesOf(ask.candidates)).length > 0) return false;
  const lease = leaseOf(ask, now, candidate, now - agoMs);
  memory.leases.set(ask.operationId, lease);
  lease.postings = post(memory.stateOf(ask.organizationId), chargesOf(lease), lease.slotMs, now);
  dispatch(memory, lease, now);
  return true;
}

/**
 * A waiter keeps its slot unless the limits changed, its endpoint is in a cooldown, or it asks so late that its charge
 * lies in a bucket in which the provider does not see the request.
 */
function keepsItsSlot(memory: EngineMemory, lease: Lease, ask: AdmissionAsk, now: number): boolean {
  const endpointId = lease.candidates[lease.candidate]?.endpointId ?? '';
  const cooldownMs = memory.stateOf(lease.organizationId).cooldowns.get(endpointId) ?? 0;
  return (
    now - lease.slotMs <= latenessMsMax(chargesOf(lease)) &&
    cooldownMs <= Math.max(now, lease.slotMs) &&
    fingerprint(lease.candidates) === fingerprint(ask.candidates)
  );
}

function decide(
  memory: EngineMemory,
  ask: AdmissionAsk,
  held: Lease | undefined,
  now: number,
): AdmissionAnswer {
  const state = memory.stateOf(ask.organizationId);
  const arrivedMs = held?.arrivedMs ?? now;
  const placements = ask.candidates.map((candidate) => place(memory, ask, held, candidate, now));
  const chosen = choose(ask, placements, now);
  const wasInLine = held?.state === 'line';
  if (wasInLine) leaveLine(memory, held);
  const waits = chosen.kind === 'later' || chosen.kind === 'line';
  const isFull = waits && (state.queues.get(ask.queue)?.size ?? 0) >= ask.waitersMax;
  const tried = triedBefore(held, ask);
  if (chosen.kind === 'refused' || isFull) {
    if (wasInLine) forget(memory, held);
    if (held !== undefined && tried !== null) keepTried(memory, held, tried, now + ask.leaseMs);
    return chosen.kind === 'refused'
      ? { ...chosen, window: refusingWindow(memory, ask, chosen.policyId, now) }
      : refusal('queue_full', RETRY_UNKNOWN_MS, null, RETRY_UNKNOWN_MS);
  }
  const lease = { ...leaseOf(ask, now, chosen.candidate, chosen.slotMs), arrivedMs, tried };
  memory.leases.set(ask.operationId, lease);
  if (waits) addTo(state.queues, ask.queue, ask.operationId);
  if (chosen.kind === 'line') {
    lease.state = 'line';
    for (const id of concurrencyOf(ask.candidates)) addTo(state.lines, id, ask.operationId);
    return { kind: 'line', candidate: chosen.candidate, policyId: chosen.policyId };
  }
  lease.postings = post(state, chargesOf(lease), lease.slotMs, now);
  const answer: AdmissionAnswer = waits
    ? waitFor(lease, now, placements[lease.candidate]?.boundBy ?? null)
    : dispatch(memory, lease, now);
  // An operation in line for several endpoints takes one; the next in line may take the others.
  if (wasInLine) wakeNext(memory, held);
  return answer;
}

function refusingWindow(
  memory: EngineMemory,
  ask: AdmissionAsk,
  policyId: string | null,
  now: number,
): WindowState | null {
  const policy = policiesOf(ask.candidates).find(({ id }) => id === policyId);
  if (policy === undefined || policy.period === 'none') return null;
  return windowOf(memory.stateOf(ask.organizationId), policy, now);
}

function dispatch(memory: EngineMemory, lease: Lease, now: number): AdmissionAnswer {
  const state = memory.stateOf(lease.organizationId);
  lease.state = 'dispatched';
  removeFrom(state.queues, lease.queue, lease.operationId);
  for (const id of concurrencyOf(chosenOf(lease))) addTo(state.holders, id, lease.operationId);
  return admitted(memory, lease, now);
}

function admitted(memory: EngineMemory, lease: Lease, now: number): AdmissionAnswer {
  const state = memory.stateOf(lease.organizationId);
  const windows = chargesOf(lease).map(({ policy }) => windowOf(state, policy, now));
  return { kind: 'admitted', candidate: lease.candidate, windows };
}

function windowOf(state: OrganizationState, policy: AppliedLimit, now: number): WindowState {
  const { used, reserved, resetMs } = usageOf(state, policy, now);
  return { policyId: policy.id, used: used + reserved, resetMs };
}

function waitFor({ candidate, slotMs }: Lease, now: number, policyId: string | null): AdmissionAnswer {
  return { kind: 'wait', candidate, waitMs: slotMs - now, policyId };
}
