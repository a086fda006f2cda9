import type { AppliedLimit } from '../domain/limits/limit.ts';
import type { AdmissionAsk, AdmissionEngine, Opening } from './engine.ts';
import { type Charged, policiesOf } from './memory/lease.ts';

/** The engine's minute plus one bucket: after this, what a short window held before counts no more. */
export const SHORT_WINDOW_MS = 62_000;

/** Initializes the engine's unknown windows from the ledger. */
export type RebuildWindows = (
  ask: Pick<AdmissionAsk, 'organizationId'> & { readonly candidates: readonly Charged[] },
  policyIds?: readonly string[],
) => Promise<void>;

export interface WindowRebuilder {
  readonly rebuild: RebuildWindows;
  /** The engine's state was started again: what was read of the ledger before is too old for it. */
  restarted(): void;
}

/** Concurrent requests with the same unknown windows share one read of the ledger. */
export function createRebuildWindows(deps: {
  readonly engine: AdmissionEngine;
  readonly openings: (organizationId: string, policies: readonly AppliedLimit[]) => Promise<Opening[]>;
}): WindowRebuilder {
  const rebuilding = new Map<string, Promise<void>>();
  let restarts = 0;

  async function initialize(organizationId: string, policies: readonly AppliedLimit[]): Promise<void> {
    for (;;) {
      const before = restarts;
      const openings = await deps.openings(organizationId, policies);
      if (before === restarts) return deps.engine.initialize(organizationId, openings);
    }
  }

  return {
    rebuild({ organizationId, candidates }, policyIds) {
      const policies = policiesOf(candidates).filter(({ id }) => policyIds?.includes(id) ?? true);
      const key = [organizationId, ...policies.map(({ id }) => id).sort()].join(' ');
      const pending = rebuilding.get(key);
      if (pending !== undefined) return pending;
      const started = initialize(organizationId, policies).finally(() => rebuilding.delete(key));
      rebuilding.set(key, started);
      return started;
    },
    restarted() {
      restarts += 1;
    },
  };
}
