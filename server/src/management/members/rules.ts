import { type RoleName, rolePermissions } from '../../domain/access.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Standing } from '../api-keys/standing.ts';
import { conflict } from '../resources/refusals.ts';

/** The role before and after a change; null before joining and after leaving. */
export interface RoleChange {
  readonly from: RoleName | null;
  readonly to: RoleName | null;
}

/** Throws 403 when the actor's role does not allow the change, whatever scopes the calling key has. */
export function demandMayChange(actor: Standing, { from, to }: RoleChange): void {
  const held = rolePermissions[actor.role];
  if (!held.has('cloud:members:manage')) {
    throw denied(
      `The role "${actor.role}" does not allow changing members. Ask an owner or admin of the organization.`,
    );
  }
  if (actor.role !== 'owner' && (from === 'owner' || to === 'owner')) {
    throw denied('Only owners can add, change or remove owners. Ask an owner of the organization.');
  }
  if (to !== null && [...rolePermissions[to]].some((scope) => !held.has(scope))) {
    throw denied(
      `The role "${to}" allows more than your role "${actor.role}". Choose a narrower role, or ask an owner of the organization.`,
    );
  }
}

/** Throws 409 when no active owner would be left. */
export function demandOwnerLeft(
  standings: ReadonlyMap<string, Standing>,
  target: Standing,
  after: { readonly role: RoleName; readonly active: boolean } | null,
): void {
  const stays = after !== null && after.role === 'owner' && after.active;
  const wasOne = target.role === 'owner' && target.active;
  if (stays || !wasOne) return;
  const others = [...standings.values()].filter(
    ({ role, active, userId }) => role === 'owner' && active && userId !== target.userId,
  );
  if (others.length > 0) return;
  throw conflict(
    null,
    'This is the last active owner of the organization, and it needs one. Make another member an owner first.',
  );
}

function denied(message: string): RelayError {
  return new RelayError('permission_denied', { message });
}
