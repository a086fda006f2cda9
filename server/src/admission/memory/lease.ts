import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { amountOf } from '../../domain/limits/metric.ts';
import type { Actual, AdmissionAsk } from '../engine.ts';
import type { Call, Lease, Tried } from './model.ts';
import { touch } from './places.ts';
import { spend } from './window.ts';

/** How much of a mean the newest value is. */
const NEWEST_SHARE = 0.1;

export function newLease(ask: AdmissionAsk, seq: number, nowMs: number, tried: Tried | null): Lease {
  return {
    organizationId: ask.organizationId,
    operationId: ask.operationId,
    seq,
    attempt: ask.attempt ?? 0,
    draft: ask.draft,
    state: 'waiting',
    candidate: 0,
    dispatchedMs: 0,
    charges: [],
    units: [],
    limits: [],
    expiresMs: nowMs + ask.leaseMs,
    tried,
  };
}

/** The candidate of a draft without an attempt in flight. */
const NO_CANDIDATE = -1;

/** Returns the draft of a request whose sent attempt failed before this ask: the draft has the usage of that attempt. */
export function triedBefore(held: Lease | undefined, ask: AdmissionAsk): Tried | null {
  if (held?.state === 'dispatched' && ask.release?.dispatched === true)
    return { draft: ask.draft, candidate: NO_CANDIDATE };
  return held?.tried ?? null;
}

/**
 * Returns what a dispatched operation did not use: the unused part goes back to where it was charged. Usage beyond the estimate is charged to the
 * calendar window of the dispatch, which may be over, and to short windows now. `null`: it used nothing.
 */
export function giveBack(call: Call, lease: Lease, actual: Actual | null): void {
  const { state, nowMs } = call;
  for (const { window, cost } of lease.charges) {
    const used = actual?.dispatched === true ? amountOf(window.metric, actual) : 0;
    if (used > cost) spend(window, window.geometry === null ? lease.dispatchedMs : nowMs, used - cost);
    if (used >= cost) continue;
    spend(window, lease.dispatchedMs, used - cost);
    touch(state.line, window.key);
  }
  returnUnits(call, lease);
}

function returnUnits({ state }: Call, lease: Lease): void {
  for (const { holders, key } of lease.units) {
    holders.delete(lease.operationId);
    touch(state.line, key);
  }
  lease.charges = [];
  lease.units = [];
}

/** The lease of a dispatched operation has run out. Its actual usage is unknown, so the charges stay at their estimate. */
export function makeLate(call: Call, lease: Lease, expiresMs: number): void {
  const { charges } = lease;
  returnUnits(call, lease);
  forget(call, lease, null, 0);
  call.late.set(lease.operationId, { ...lease, state: 'late', charges, expiresMs, tried: null });
}

/** Its gateway is back and the request still in flight: it holds its units again, and is charged already. */
export function revive(
  { leases, late }: Call,
  lease: Lease,
  { draft, leaseMs, attempt = 0 }: AdmissionAsk,
  nowMs: number,
): void {
  const units = lease.limits.filter((each) => 'holders' in each);
  for (const { holders } of units) holders.add(lease.operationId);
  late.delete(lease.operationId);
  const expiresMs = nowMs + leaseMs;
  leases.set(lease.operationId, { ...lease, state: 'dispatched', attempt, units, draft, expiresMs });
}

/** Learns from a settled operation how long a unit is held. */
export function noteHolding({ nowMs }: Call, { units, dispatchedMs }: Lease): void {
  const heldMs = nowMs - dispatchedMs;
  for (const each of units)
    each.meanMs = each.meanMs === null ? heldMs : each.meanMs * (1 - NEWEST_SHARE) + heldMs * NEWEST_SHARE;
}

/** Forgets a lease that holds nothing, unless an attempt was sent: its draft is kept until the operation is settled. */
export function forget({ leases, late }: Call, lease: Lease, tried: Tried | null, expiresMs: number): void {
  leases.delete(lease.operationId);
  late.delete(lease.operationId);
  if (tried !== null)
    leases.set(lease.operationId, { ...lease, state: 'tried', charges: [], units: [], tried, expiresMs });
}

/** Has charges to limits. */
export interface Charged {
  readonly charges: readonly { readonly policy: AppliedLimit }[];
}

export function policiesOf(candidates: readonly Charged[]): AppliedLimit[] {
  const policies = new Map<string, AppliedLimit>();
  for (const { charges } of candidates) for (const { policy } of charges) policies.set(policy.id, policy);
  return [...policies.values()];
}
