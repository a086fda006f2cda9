import type { Caller } from '../../domain/caller.ts';

/** Whether the caller sees shared limits and the limits of all members. */
export function seesOrganization({ scopes }: Caller): boolean {
  return scopes.has('relay:limits:read:organization');
}

/** The only user whose limits the caller sees: its own; undefined when it sees those of all members. */
export function visibleOwner(caller: Caller): string | undefined {
  return seesOrganization(caller) ? undefined : caller.userId;
}
