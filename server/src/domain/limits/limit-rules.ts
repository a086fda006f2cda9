import type { Route } from '../routing/routing.ts';
import type { LimitRules } from '../routing/unfit.ts';
import type { OrganizationSnapshot } from '../snapshot.ts';
import type { PolicyDescription } from './limit.ts';
import { limitWords } from './limit-words.ts';
import { hardLimitAt, type LimitedCaller, unpricedBy } from './limits.ts';

/** What the caller's limits ask of the candidates of a route. */
export function limitRules(
  snapshot: OrganizationSnapshot,
  caller: LimitedCaller,
  route: Pick<Route, 'lane'>,
): LimitRules {
  return {
    needsPrice: (candidate) => namedIn(unpricedBy(snapshot, caller, route, candidate), snapshot),
    hardLimit: (candidate) => namedIn(hardLimitAt(snapshot, caller, route, candidate), snapshot),
  };
}

function namedIn(policy: PolicyDescription | null, snapshot: OrganizationSnapshot): string | null {
  return policy === null ? null : limitWords(policy, snapshot);
}
