import type { Clock } from '../../kit/clock.ts';
import { emptyState, type Lease, type OrganizationState } from './state.ts';

/** Everything the engine remembers, and the clock it decides by. */
export interface EngineMemory {
  /** By operation. */
  readonly leases: Map<string, Lease>;
  stateOf(organizationId: string): OrganizationState;
  /** Never goes back, even when the machine's clock does. */
  nowMs(): number;
  /** Tells the operation that concurrency may be free for it. */
  readonly wake: (operationId: string) => void;
}

export function createEngineMemory(deps: {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly wake: (operationId: string) => void;
}): EngineMemory {
  const states = new Map<string, OrganizationState>();
  let lastMs = 0;
  return {
    leases: new Map(),
    stateOf(organizationId) {
      const known = states.get(organizationId);
      if (known !== undefined) return known;
      const created = emptyState();
      states.set(organizationId, created);
      return created;
    },
    nowMs() {
      lastMs = Math.max(lastMs, deps.clock.nowMs());
      return lastMs;
    },
    wake: deps.wake,
  };
}
