import type { Route } from '../routing/routing.ts';
import type { NeedsPrice } from '../routing/unfit.ts';
import type { OrganizationSnapshot } from '../snapshot.ts';
import { limitWords } from './limit-words.ts';
import { type LimitedCaller, unpricedBy } from './limits.ts';

/** What spend limits say of the candidates of a route. */
export function needsPrice(
  snapshot: OrganizationSnapshot,
  caller: LimitedCaller,
  route: Pick<Route, 'lane'>,
): NeedsPrice {
  return (candidate) => {
    const policy = unpricedBy(snapshot, caller, route, candidate);
    return policy === null ? null : limitWords(policy);
  };
}
