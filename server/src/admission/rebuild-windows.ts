import type { AppliedLimit } from '../domain/limits/limit.ts';
import type { AdmissionAsk, AdmissionEngine, Opening } from './engine.ts';
import { policiesOf } from './memory/lease.ts';

/** Initializes the engine's unknown windows from the ledger. */
export type RebuildWindows = (ask: AdmissionAsk, policyIds?: readonly string[]) => Promise<void>;

/** Concurrent requests with the same unknown windows share one read of the ledger. */
export function createRebuildWindows(deps: {
  readonly engine: AdmissionEngine;
  readonly openings: (organizationId: string, policies: readonly AppliedLimit[]) => Promise<Opening[]>;
}): RebuildWindows {
  const rebuilding = new Map<string, Promise<void>>();
  return ({ organizationId, candidates }, policyIds) => {
    const policies = policiesOf(candidates).filter(({ id }) => policyIds?.includes(id) ?? true);
    const key = [organizationId, ...policies.map(({ id }) => id).sort()].join(' ');
    const pending = rebuilding.get(key);
    if (pending !== undefined) return pending;
    const started = deps
      .openings(organizationId, policies)
      .then((openings) => deps.engine.initialize(organizationId, openings))
      .finally(() => rebuilding.delete(key));
    rebuilding.set(key, started);
    return started;
  };
}
