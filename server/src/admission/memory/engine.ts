import type { AppliedLimit } from '../../domain/limits/limit.ts';
import type { Clock } from '../../kit/clock.ts';
import type { AdmissionEngine, SettleAsk } from '../engine.ts';
import { admit, restore } from './admit.ts';
import { createEngineMemory } from './engine-memory.ts';
import { unknownWindows } from './lease.ts';
import { giveBack, keepTried } from './release.ts';
import { initializeWindows, recountWindows, usageOf } from './state.ts';
import { sweep } from './sweep.ts';

export interface MemoryEngineDeps {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Takes the terminal record of a settled operation. */
  readonly append: (settlement: SettleAsk) => void;
  /** Takes the draft of an operation whose lease expired after it was dispatched. */
  readonly appendExpired: (draft: string, candidate: number) => void;
  /** Called when concurrency may be free for the operation that is next in line. */
  readonly wake: (operationId: string) => void;
  /**
   * Until then a short window that is not in memory may hold requests that an earlier process dispatched, so it has to be
   * initialized too. Without it, short windows start empty.
   */
  readonly shortWindowsUnknownUntilMs?: number;
}

export interface MemoryEngine extends AdmissionEngine {
  /** Those of these limits whose windows have to be initialized. */
  unknown(organizationId: string, limits: readonly AppliedLimit[]): AppliedLimit[];
  /** How many operations hold capacity or wait for it. */
  leases(): number;
}

/**
 * The rules in readable form, in one process: a single-machine deployment runs this engine, and the Redis engine is
 * compared with it. A step is atomic because its code awaits nothing.
 */
export function createMemoryEngine(deps: MemoryEngineDeps): MemoryEngine {
  const memory = createEngineMemory(deps);
  const { leases, stateOf, nowMs } = memory;

  function unknown(organizationId: string, limits: readonly AppliedLimit[]): AppliedLimit[] {
    const shortAreKnown = nowMs() >= (deps.shortWindowsUnknownUntilMs ?? 0);
    return unknownWindows(stateOf(organizationId), limits, shortAreKnown);
  }

  return {
    unknown,
    leases: () => leases.size,
    admit: async (ask) => admit(memory, ask, unknown),
    restore: async (ask, candidate, agoMs) => restore(memory, ask, candidate, agoMs, unknown),
    async settle(settlement) {
      deps.append(settlement);
      const lease = leases.get(settlement.operationId);
      if (lease === undefined) return 'unknown';
      giveBack(memory, lease, settlement.actual, nowMs());
      return 'settled';
    },
    async void(_organizationId, operationId) {
      const lease = leases.get(operationId);
      if (lease === undefined) return;
      giveBack(memory, lease, null, nowMs());
      if (lease.tried !== null) keepTried(memory, lease, lease.tried, lease.expiresMs);
    },
    async extend(_organizationId, operationIds, leaseMs) {
      const now = nowMs();
      return operationIds.filter((id) => {
        const lease = leases.get(id);
        if (lease !== undefined) lease.expiresMs = Math.max(lease.expiresMs, now + leaseMs);
        return lease === undefined;
      });
    },
    async penalize(organizationId, endpointId, forMs) {
      const { cooldowns } = stateOf(organizationId);
      cooldowns.set(endpointId, Math.max(nowMs() + forMs, cooldowns.get(endpointId) ?? 0));
    },
    sweep: async () => sweep(memory, deps.appendExpired),
    async initialize(organizationId, openings) {
      initializeWindows(stateOf(organizationId), openings, nowMs());
    },
    recount: async (organizationId, recounts) => recountWindows(stateOf(organizationId), recounts, nowMs()),
    async usage(organizationId, limits) {
      const now = nowMs();
      const state = stateOf(organizationId);
      return limits.map((limit) => ({ policyId: limit.id, ...usageOf(state, limit, now) }));
    },
  };
}
