import type { AppliedLimit } from '../../domain/limits/limit.ts';
import type { Actual, Release, SettleAnswer, SettleAsk } from '../engine.ts';
import { forget, giveBack, noteHolding } from './lease.ts';
import type { Call, Lease, OrganizationState, Timeline } from './model.ts';
import { leave } from './queues.ts';
import { emptyState } from './state.ts';
import { step } from './step.ts';

/** Everything the engine remembers, and the moment it decides by. */
export interface EngineMemory {
  readonly states: Map<string, OrganizationState>;
  /** By operation. */
  readonly leases: Map<string, Lease>;
  readonly time: Timeline;
  /** Dispatched leases that ran out, oldest first. */
  readonly late: Map<string, Lease>;
  /** Never goes back, even when the machine's clock does. */
  nowMs(): number;
  nextSeq(): number;
  unknown(organizationId: string, limits: readonly AppliedLimit[]): AppliedLimit[];
}

export function openCall(memory: EngineMemory, organizationId: string): Call {
  const state = memory.states.get(organizationId) ?? emptyState(memory.time);
  memory.states.set(organizationId, state);
  return {
    organizationId,
    state,
    leases: memory.leases,
    late: memory.late,
    nowMs: memory.nowMs(),
    hadLine: state.line !== null,
    released: new Map<string, Release>(),
  };
}

export function heldBy({ leases, late }: Call, operationId: string): Lease | undefined {
  return leases.get(operationId) ?? late.get(operationId);
}

/** Ends an operation; what it did not use moves the line. */
export function settle(call: Call, ask: SettleAsk): SettleAnswer {
  const lease = heldBy(call, ask.operationId);
  if (lease === undefined) return 'unknown';
  noteHolding(call, lease);
  takeOut(call, lease);
  giveBack(call, lease, usedBy(lease, ask));
  forget(call, lease, null, 0);
  step(call);
  return 'settled';
}

/** What the attempt used that the lease is for; null when that was never sent. A lease that does not know is for the last one. */
function usedBy({ state, attempt, tried }: Lease, { actual, earlier = [] }: SettleAsk): Actual | null {
  const isKnown = attempt > 0 || (state !== 'late' && tried === null);
  if (!isKnown || attempt === earlier.length) return actual;
  return earlier[attempt] ?? null;
}

/** Ends an operation that was never dispatched, or its attempt that was not. */
export function takeBack(call: Call, operationId: string): void {
  const lease = heldBy(call, operationId);
  if (lease === undefined) return;
  takeOut(call, lease);
  giveBack(call, lease, null);
  forget(call, lease, lease.tried, lease.expiresMs);
  step(call);
}

/** Out of the line, if it waits. */
export function takeOut(call: Call, { operationId }: Pick<Lease, 'operationId'>): void {
  const { line } = call.state;
  const waiter = line?.waiting.get(operationId);
  if (line !== null && waiter !== undefined) leave(call, line, waiter);
}
