import type { Caller } from '../../domain/caller.ts';

/** Whether the caller sees what is shared, and the budgets of everybody. */
export function seesOrganization({ scopes }: Caller): boolean {
  return scopes.has('relay:limits:read:organization');
}

/** The one user whose budgets the caller sees: itself; undefined when it sees those of everybody. */
export function visibleOwner(caller: Caller): string | undefined {
  return seesOrganization(caller) ? undefined : caller.userId;
}
