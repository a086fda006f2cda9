import type { Route } from '../routing/routing.ts';
import type { LimitRules } from '../routing/unfit.ts';
import type { OrganizationSnapshot } from '../snapshot.ts';
import { limitWords } from './limit-words.ts';
import { hardLimitAt, type LimitedCaller, unpricedBy } from './limits.ts';

/** What the caller's limits ask of the candidates of a route. */
export function limitRules(
  snapshot: OrganizationSnapshot,
  caller: LimitedCaller,
  route: Pick<Route, 'lane'>,
): LimitRules {
  return {
    needsPrice: (candidate) => {
      const limit = unpricedBy(snapshot, caller, route, candidate);
      return limit && { words: limitWords(limit.described, snapshot), isHard: limit.applied.hard === true };
    },
    hardLimit: (candidate) => {
      const policy = hardLimitAt(snapshot, caller, route, candidate);
      return policy && limitWords(policy, snapshot);
    },
  };
}
