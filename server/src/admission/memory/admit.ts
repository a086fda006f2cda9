import { CLASS_RANK } from '../class-rank.ts';
import type { AdmissionAnswer, AdmissionAsk, CandidateAsk } from '../engine.ts';
import { RETRY_UNKNOWN_MS, refusal } from '../refusal.ts';
import { windowKey } from '../window-key.ts';
import { dispatch } from './dispatch.ts';
import { blockedBy } from './fitting.ts';
import { forget, giveBack, newLease, policiesOf, triedBefore } from './lease.ts';
import { applyLimit, keepLimits } from './limits.ts';
import type { Call, Candidate, Lease, Units, Waiter, WindowCharge } from './model.ts';
import { type EngineMemory, heldBy } from './operations.ts';
import { type Promised, promiseAt } from './promise.ts';
import { join, startTag } from './queues.ts';
import { admitted } from './releases.ts';
import { refuse } from './retry-after.ts';
import { headroomOf } from './runs.ts';
import { isHeld, openWindow, unitsOf } from './state.ts';
import { step } from './step.ts';
import { spend } from './window.ts';

export function admit(
  call: Call,
  ask: AdmissionAsk,
  { unknown, nextSeq }: Pick<EngineMemory, 'unknown' | 'nextSeq'>,
): AdmissionAnswer {
  const held = heldBy(call, ask.operationId);
  if (held?.state === 'dispatched' && ask.release === undefined) return admitted(call, held);
  if (held?.state === 'waiting') return askedAgain(call, ask);
  const missing = unknown(ask.organizationId, policiesOf(ask.candidates));
  if (missing.length > 0) return { kind: 'rebuild', policyIds: missing.map(({ id }) => id) };
  const tried = triedBefore(held, ask);
  if (held?.state === 'dispatched' || held?.state === 'late') {
    giveBack(call, held, ask.release ?? null);
    call.late.delete(ask.operationId);
  }
  const candidates = ask.candidates.map((each) => resolve(call, each, ask.configVersion));
  step(call);
  const lease = newLease(ask, held?.seq ?? nextSeq(), call.nowMs, tried);
  const answer = decide(call, ask, newWaiter(call, ask, candidates, lease.seq), lease);
  if (answer.kind !== 'refused') call.leases.set(ask.operationId, lease);
  else if (held !== undefined) forget(call, held, tried, lease.expiresMs);
  return answer;
}

/** A waiter asks again: it gets the same answer, or what this step does for it. */
function askedAgain(call: Call, { operationId }: AdmissionAsk): AdmissionAnswer {
  step(call);
  const waiter = call.state.line?.waiting.get(operationId);
  const released = call.released.get(operationId);
  if (released !== undefined) return released;
  if (waiter === undefined) throw new Error(`${operationId} is not in a queue`);
  return { kind: 'wait', ...waiter.told, withinMs: waiter.deadlineMs - call.nowMs };
}

function decide(call: Call, ask: AdmissionAsk, waiter: Waiter, lease: Lease): AdmissionAnswer {
  const chosen = choose(call, ask, waiter);
  if (chosen === null) return refuse(call, waiter);
  const { index, promised } = chosen;
  if (promised === null) {
    dispatch(call, lease, waiter, index);
    return admitted(call, lease);
  }
  if ((call.state.line?.lengths.get(waiter.lane) ?? 0) >= ask.waitersMax)
    return refusal('queue_full', RETRY_UNKNOWN_MS, null, RETRY_UNKNOWN_MS);
  if (ask.selection === 'preferred') waiter.only = index;
  waiter.told = { candidate: index, firm: promised.firm, policyId: waitsFor(call, waiter, index) };
  join(call, waiter, index, promised.slotMs);
  if (call.state.line !== null) keepLimits(call.state.line, waiter, ask.configVersion);
  return { kind: 'wait', ...waiter.told, withinMs: ask.waitMsMax };
}

/**
 * `preferred` takes the first candidate that is free now or can be promised; `soonest` the first that is free now, else the
 * first that can be promised. No promise: it goes now.
 */
function choose(
  call: Call,
  ask: AdmissionAsk,
  waiter: Waiter,
): { index: number; promised: Promised | null } | null {
  // A release that was given back unused had its turn in the pace.
  const why = ask.waitMsMax > 0 && ask.release?.dispatched !== false ? 'turn' : 'unpaced';
  const isFree = (index: number) => blockedBy(call, waiter, index, why) === null;
  const indexes = [...waiter.candidates.keys()];
  if (ask.selection === 'soonest') {
    const free = indexes.find(isFree);
    if (free !== undefined) return { index: free, promised: null };
  }
  for (const index of indexes) {
    if (ask.selection === 'preferred' && isFree(index)) return { index, promised: null };
    const promised = promiseAt(call, waiter, index);
    if (promised !== null) return { index, promised };
  }
  return null;
}

/** The limit that it waits for; null for a cooldown, the pace or the order alone. */
function waitsFor(call: Call, waiter: Waiter, index: number): string | null {
  const { windows, units } = call.state;
  const key = blockedBy(call, waiter, index, 'unpaced') ?? '';
  return (windows.get(key) ?? units.get(key))?.policyId ?? null;
}

function newWaiter(
  { nowMs, state }: Call,
  ask: AdmissionAsk,
  candidates: readonly Candidate[],
  seq: number,
): Waiter {
  const rank = CLASS_RANK[ask.priority];
  let size = 0;
  for (const { charges } of ask.candidates) for (const { cost } of charges) size += cost;
  return {
    operationId: ask.operationId,
    lane: ask.queue,
    rank,
    caller: ask.caller,
    candidates,
    shape: shapeOf(ask.candidates),
    waitMsMax: ask.waitMsMax,
    deadlineMs: nowMs + ask.waitMsMax,
    seq,
    headroom: headroomOf(rank, ask.mixedClasses),
    size,
    tag: startTag(state.line, rank, ask.caller),
    queue: null,
    only: -1,
    slotMs: -1,
    reservedOn: -1,
    told: { candidate: 0, firm: false, policyId: null },
  };
}

/** The windows and units of a candidate. A limit that this ask brings news of moves those who wait for it. */
function resolve(call: Call, { endpointId, paced, charges }: CandidateAsk, version: number): Candidate {
  const { state } = call;
  const windows: WindowCharge[] = [];
  const units: Units[] = [];
  const limits = charges.map(({ policy, cost }) => {
    const target = isHeld(policy) ? unitsOf(state, policy) : openWindow(state, policy);
    applyLimit(call, target, { limit: policy.limit, version });
    if ('holders' in target) units.push(target);
    else windows.push({ window: target, cost });
    return target;
  });
  return { endpointId, paced, charges: windows, units, limits };
}

/** Limits and costs do not count: requests of one shape are blocked at the same places. */
function shapeOf(candidates: readonly CandidateAsk[]): string {
  return candidates
    .map(({ endpointId, paced, charges }) => {
      const keys = charges.map(({ policy }) => windowKey(policy)).join(',');
      return `${endpointId}${paced ? '~' : ''}=${keys}`;
    })
    .join(';');
}

/** Writes an operation again that was dispatched before the store lost it. It is in flight, so no limit is checked. */
export function restore(call: Call, ask: AdmissionAsk, candidate: number, agoMs: number, seq: number): void {
  const lease = newLease(ask, seq, call.nowMs, null);
  const chosen = ask.candidates[candidate];
  if (chosen === undefined) throw new RangeError(`no candidate ${candidate}`);
  const { charges, units, limits } = resolve(call, chosen, ask.configVersion);
  const dispatchedMs = call.nowMs - agoMs;
  for (const { window, cost } of charges) spend(window, dispatchedMs, cost);
  for (const { holders } of units) holders.add(ask.operationId);
  call.leases.set(ask.operationId, {
    ...lease,
    state: 'dispatched',
    candidate,
    dispatchedMs,
    charges,
    units,
    limits,
  });
}
