import type { AppliedLimit, CountedRequests } from '../domain/limits/limit.ts';
import { limitValues } from '../domain/limits/limits.ts';
import type { BudgetPolicy, OrganizationSnapshot } from '../domain/snapshot.ts';
import type { Log } from '../kit/log.ts';
import type { AdmissionDesk } from './desk.ts';
import type { AdmissionAsk, LimitChange } from './engine.ts';
import { policiesOf } from './memory/lease.ts';

const RETRY_MS = 100;

type MaybePromise<T> = T | Promise<T>;

export interface FollowLimitsDeps {
  readonly desk: Pick<AdmissionDesk, 'inFlight' | 'changeLimits'>;
  /** The limits of a key at that version of the configuration or later. */
  readonly keyPoliciesOf: (
    organizationId: string,
    keyId: string,
    version: number,
  ) => MaybePromise<readonly BudgetPolicy[]>;
  readonly log: Log;
}

/**
 * Tells the engine about limits that were changed while requests of this process are in flight, so that a raised or removed
 * limit releases those who wait immediately. Tries again while the store is unavailable, until a newer configuration is known or
 * no request is in flight.
 */
export function createFollowLimits(
  deps: FollowLimitsDeps,
): (snapshot: OrganizationSnapshot) => Promise<void> {
  const newest = new Map<string, number>();

  return async (snapshot) => {
    const { organizationId, version } = snapshot;
    newest.set(organizationId, version);
    while (newest.get(organizationId) === version) {
      const asks = deps.desk.inFlight(organizationId);
      if (asks.length === 0) break;
      try {
        const changes = await changesFor(deps, snapshot, asks);
        if (changes.length > 0) await deps.desk.changeLimits(organizationId, version, changes);
        break;
      } catch (error) {
        deps.log.warn({ err: error }, 'could not apply a changed limit to waiting requests; will retry');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    if (newest.get(organizationId) === version) newest.delete(organizationId);
  };
}

async function changesFor(
  { keyPoliciesOf }: FollowLimitsDeps,
  snapshot: OrganizationSnapshot,
  asks: readonly AdmissionAsk[],
): Promise<LimitChange[]> {
  const { organizationId, version } = snapshot;
  /** As they were when those requests asked; limits are shared, so that there are few. */
  const asked = new Set<AppliedLimit>();
  for (const { candidates } of asks) for (const policy of policiesOf(candidates)) asked.add(policy);
  const keyIds = new Set<string>();
  for (const { counts } of asked) if (counts.keyId !== null) keyIds.add(counts.keyId);
  const keyPolicies: BudgetPolicy[] = [];
  for (const keyId of keyIds) keyPolicies.push(...(await keyPoliciesOf(organizationId, keyId, version)));
  const values = limitValues(snapshot, keyPolicies);
  const changes = new Map<string, LimitChange>();
  for (const { id, limit, counts } of asked) {
    const value = values.get(id) ?? null;
    // Without its endpoint or lane a limit is gone too, and those who wait must not be sent there faster for it.
    if (value === null && !hasTarget(snapshot, counts)) continue;
    if (value !== limit) changes.set(id, { policyId: id, limit: value });
  }
  return [...changes.values()];
}

function hasTarget(
  { endpoints, lanes, providers }: OrganizationSnapshot,
  { scopeType, scopeId }: CountedRequests,
): boolean {
  if (scopeId === null) return true;
  if (scopeType === 'endpoint') return endpoints.has(scopeId);
  if (scopeType === 'lane') return lanes.has(scopeId);
  return scopeType !== 'provider' || providers.has(scopeId);
}
