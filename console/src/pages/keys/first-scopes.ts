import { allScopes, type Scope } from '@relay/contract';

/**
 * What a new key may do unless its creator chooses otherwise: send requests, or, for a role that cannot, read what it reads. A key never gets more
 * than its creator has, so that the form as it opens can be submitted.
 */
export function firstScopes(holds: (scope: Scope) => boolean): readonly Scope[] {
  if (holds('relay:request')) return ['relay:request'];
  return allScopes.filter((scope) => holds(scope) && !scope.endsWith(':manage'));
}
