import { allScopes, type Scope } from '@relay/contract';

/**
 * The scopes of a new key unless its creator chooses others: sending requests or, for a role that cannot send, reading what the role
 * reads. A key never gets more than its creator has, so that the form can be submitted as it opens.
 */
export function firstScopes(holds: (scope: Scope) => boolean): readonly Scope[] {
  if (holds('relay:request')) return ['relay:request'];
  return allScopes.filter((scope) => holds(scope) && !scope.endsWith(':manage'));
}
