import type { AppliedLimit } from '../domain/limits/limit.ts';
import type { AdmissionAsk, AdmissionEngine, Opening } from './engine.ts';
import { policiesOf } from './memory/lease.ts';

/** Tells the engine what the ledger knows of calendar windows that it does not. */
export type RebuildWindows = (ask: AdmissionAsk, policyIds?: readonly string[]) => Promise<void>;

/** A crowd that meets the same unknown windows asks the ledger once, not once each. */
export function createRebuildWindows(deps: {
  readonly engine: AdmissionEngine;
  readonly openings: (organizationId: string, policies: readonly AppliedLimit[]) => Promise<Opening[]>;
}): RebuildWindows {
  const rebuilding = new Map<string, Promise<void>>();
  return ({ organizationId, candidates }, policyIds) => {
    const policies = policiesOf(candidates).filter(({ id }) => policyIds?.includes(id) ?? true);
    const key = [organizationId, ...policies.map(({ id }) => id).sort()].join(' ');
    const underWay = rebuilding.get(key);
    if (underWay !== undefined) return underWay;
    const started = deps
      .openings(organizationId, policies)
      .then((openings) => deps.engine.initialize(organizationId, openings))
      .finally(() => rebuilding.delete(key));
    rebuilding.set(key, started);
    return started;
  };
}
