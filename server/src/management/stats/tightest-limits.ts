import type { EndpointStatsPage, LimitUsage } from '@relay/contract';
import type { Caller } from '../../domain/caller.ts';
import { endpointBound, type Limit, resourceLimit, scopesOf } from '../../domain/limits/limit.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { routingTableOf } from '../../domain/routing/routing.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import { readLimitState } from '../limit-state.ts';
import type { UsageDeps } from '../limits/read-usage.ts';
import { toLimitUsage } from '../limits/usage-wire.ts';
import { seesOrganization } from '../limits/visibility.ts';

export type LimitDeps = UsageDeps;

/** One read of the live state is 100 limits; with more of them the page would wait for the engine. */
const LIMITS_MAX = 5_000;

interface TightestLimits {
  readonly state: EndpointStatsPage['limits'];
  /** By endpoint. */
  readonly tightest: ReadonlyMap<string, LimitUsage>;
}

/** The tightest of the limits that apply to every request of an endpoint, of any caller and any lane. */
export async function readTightest(
  deps: LimitDeps,
  caller: Caller,
  snapshot: OrganizationSnapshot,
): Promise<TightestLimits> {
  const none = new Map<string, LimitUsage>();
  if (!seesOrganization(caller)) return { state: 'no_access', tightest: none };
  const limits = sharedLimits(snapshot).slice(0, LIMITS_MAX);
  if (limits.length === 0) return { state: 'read', tightest: none };
  try {
    const applied = limits.map((limit) => limit.applied);
    const usages = await readLimitState(deps, caller.organizationId, applied);
    const nowMs = deps.clock.nowMs();
    const shown = limits.flatMap((limit) => {
      const usage = usages.get(limit.applied.id);
      return usage === undefined ? [] : [{ limit, usage: toLimitUsage(limit, usage, nowMs) }];
    });
    return { state: 'read', tightest: tightestOf(snapshot, shown) };
  } catch (error) {
    // The rest of the page does not depend on the engine.
    if (error instanceof RelayError && error.code === 'policy_unavailable')
      return { state: 'unavailable', tightest: none };
    throw error;
  }
}

/** Limits of the whole organization and of providers first: there may be thousands of endpoints. */
function sharedLimits({ limitPolicies, endpoints }: OrganizationSnapshot): Limit[] {
  const limits = limitPolicies.filter(({ scopeType }) => scopeType !== 'lane').map(resourceLimit);
  const bounds = [...endpoints.values()].flatMap((endpoint) =>
    endpoint.maxConcurrency === null ? [] : endpointBound(endpoint, endpoint.maxConcurrency),
  );
  const isOwn = ({ applied: { counts } }: Limit) =>
    counts.scopeType === 'endpoint' || counts.scopeType === 'model';
  return [...limits.filter((each) => !isOwn(each)), ...bounds, ...limits.filter(isOwn)];
}

interface ShownLimit {
  readonly limit: Limit;
  readonly usage: LimitUsage;
}

function tightestOf(
  snapshot: OrganizationSnapshot,
  shown: readonly ShownLimit[],
): ReadonlyMap<string, LimitUsage> {
  const byScope = new Map<string, LimitUsage>();
  for (const { limit, usage } of shown) {
    const { scopeType, scopeId } = limit.applied.counts;
    tighten(byScope, `${scopeType} ${scopeId}`, usage);
  }
  const tightest = new Map<string, LimitUsage>();
  for (const [endpointId, candidate] of routingTableOf(snapshot).candidates)
    for (const { scopeType, scopeId } of scopesOf(null, candidate)) {
      const usage = byScope.get(`${scopeType} ${scopeId}`);
      if (usage !== undefined) tighten(tightest, endpointId, usage);
    }
  return tightest;
}

function tighten(found: Map<string, LimitUsage>, key: string, usage: LimitUsage): void {
  const before = found.get(key);
  if (before === undefined || byTightness(usage, before) < 0) found.set(key, usage);
}

/** Tightest first: by the share that is used, now or as forecast, then by the share used now, then by how few requests it applies to. */
export function byTightness(one: LimitUsage, other: LimitUsage): number {
  return (
    expectedShare(other) - expectedShare(one) ||
    takenShare(other) - takenShare(one) ||
    WIDTHS[one.scope_type] - WIDTHS[other.scope_type]
  );
}

const WIDTHS: Readonly<Record<LimitUsage['scope_type'], number>> = {
  endpoint: 0,
  model: 0,
  credential: 1,
  provider: 2,
  lane: 3,
  global: 4,
};

/** More than all is all: a limit that has no room left is as tight as one that will have none. */
function expectedShare(usage: LimitUsage): number {
  return Math.max(takenShare(usage), shareOf(usage, usage.forecast ?? 0));
}

/** What is reserved counts as used. */
function takenShare(usage: LimitUsage): number {
  return shareOf(usage, usage.used + usage.reserved);
}

function shareOf({ limit }: LimitUsage, amount: number): number {
  return limit === 0 ? 1 : Math.min(1, amount / limit);
}

/** The endpoint that a limit is set on; undefined for other limits, and for those that were deleted. */
export function endpointOfLimit(snapshot: OrganizationSnapshot): (limitId: string) => string | undefined {
  const endpointOf = new Map<string, string>();
  for (const { described } of sharedLimits(snapshot))
    if (described.scope_type === 'endpoint' && described.scope_id !== null)
      endpointOf.set(described.id, described.scope_id);
  return (limitId) => endpointOf.get(limitId);
}
