import { METRICS } from '../../domain/limits/metric.ts';
import type { Actual } from '../engine.ts';
import type { EngineMemory } from './engine-memory.ts';
import { chosenOf, comesBefore, concurrencyOf } from './lease.ts';
import { correct, type Lease, removeFrom, type Tried } from './state.ts';

/** How many operations in line are woken together; each of them, once served, wakes the next. */
const WAKES_MAX = 8;

/** Returns what a lease holds and did not use, and deletes the lease. `null`: it used nothing. */
export function giveBack(memory: EngineMemory, lease: Lease, actual: Actual | null, now: number): void {
  const state = memory.stateOf(lease.organizationId);
  for (const posting of lease.postings) correct(state, posting, actual, now);
  if (lease.state === 'line') leaveLine(memory, lease);
  if (lease.state === 'dispatched') {
    for (const id of concurrencyOf(chosenOf(lease))) removeFrom(state.holders, id, lease.operationId);
  }
  forget(memory, lease);
}

export function forget(memory: EngineMemory, lease: Lease): void {
  removeFrom(memory.stateOf(lease.organizationId).queues, lease.queue, lease.operationId);
  memory.leases.delete(lease.operationId);
  if (lease.state !== 'waiting') wakeNext(memory, lease);
}

/** An attempt was sent and holds nothing any more: the lease keeps its draft until the operation is settled. */
export function keepTried(memory: EngineMemory, lease: Lease, tried: Tried, expiresMs: number): void {
  const kept: Lease = { ...lease, state: 'tried', tried, candidates: [], postings: [], expiresMs };
  memory.leases.set(lease.operationId, kept);
}

export function leaveLine(memory: EngineMemory, lease: Lease): void {
  const state = memory.stateOf(lease.organizationId);
  for (const id of concurrencyOf(lease.candidates)) removeFrom(state.lines, id, lease.operationId);
  removeFrom(state.queues, lease.queue, lease.operationId);
}

/** Wakes the operations that are next in line for the concurrency that this lease waited for or held. */
export function wakeNext({ stateOf, leases, wake }: EngineMemory, lease: Lease): void {
  const state = stateOf(lease.organizationId);
  const limits = new Map(
    lease.candidates.flatMap(({ charges }) =>
      charges.flatMap(({ policy }) =>
        METRICS[policy.metric].held ? [[policy.id, policy.limit] as const] : [],
      ),
    ),
  );
  for (const [id, limit] of limits) {
    const free = limit - (state.holders.get(id)?.size ?? 0);
    const inLine = [...(state.lines.get(id) ?? [])];
    inLine.sort((a, b) => (comesBefore(leases.get(a), a, leases.get(b), b) ? -1 : 1));
    for (const next of inLine.slice(0, Math.max(0, Math.min(free, WAKES_MAX)))) wake(next);
  }
}
