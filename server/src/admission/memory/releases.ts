import type { AdmissionAnswer } from '../engine.ts';
import { forget } from './lease.ts';
import type { Call, Lease, Waiter } from './model.ts';
import { leave } from './queues.ts';
import { refuse } from './retry-after.ts';
import { stateOf } from './state.ts';

export function leaseOf({ leases }: Call, { operationId }: Waiter): Lease {
  const lease = leases.get(operationId);
  if (lease === undefined) throw new Error(`${operationId} waits without a lease`);
  return lease;
}

/** A waiter goes. */
export function letGo(call: Call, lease: Lease): void {
  call.released.set(lease.operationId, admitted(call, lease));
}

/** Its deadline has come without a way for it. */
export function giveUp(call: Call, waiter: Waiter): void {
  const { line } = call.state;
  const lease = leaseOf(call, waiter);
  if (line !== null) leave(call, line, waiter);
  forget(call, lease, lease.tried, lease.expiresMs);
  call.released.set(waiter.operationId, refuse(call, waiter));
}

export function admitted(call: Call, lease: Lease): Extract<AdmissionAnswer, { kind: 'admitted' }> {
  const { nowMs } = call;
  return {
    kind: 'admitted',
    candidate: lease.candidate,
    windows: lease.limits.map((each) => stateOf(each, nowMs)),
    agoMs: Math.max(0, nowMs - lease.dispatchedMs),
  };
}
