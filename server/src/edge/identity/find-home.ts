import { RelayError } from '../../domain/relay-error.ts';
import type { IdentityDeps } from './deps.ts';
import { acceptInvitation, openInvitationsTo } from './invitations.ts';
import { everyMembershipOf, type UserRow } from './people.ts';

type HomeDeps = Pick<IdentityDeps, 'db' | 'fences' | 'newId'>;

/**
 * The organization to start in: the user's oldest active membership, else one that has invited them, else one where they are
 * suspended, whose session says so and can leave. Signing in accepts an invitation only if the address is proven to be the
 * user's: anyone can type an address when signing up. Null: none of these.
 */
export async function findHome(
  deps: HomeDeps,
  requestId: string,
  user: UserRow,
  isAddressProven: boolean,
): Promise<string | null> {
  requireActiveAccount(user);
  const memberships = await everyMembershipOf(deps.db, user.id);
  const active = memberships.find(({ isActive }) => isActive);
  if (active !== undefined) return active.organizationId;
  const invitations = isAddressProven ? await openInvitationsTo(deps.db, user.email) : [];
  let full: RelayError | null = null;
  for (const invitation of invitations) {
    const { organization_id: organizationId } = invitation;
    if (memberships.some((each) => each.organizationId === organizationId)) continue;
    try {
      await acceptInvitation(deps, requestId, invitation, async () => user.id);
      return organizationId;
    } catch (error) {
      // Another organization may have room.
      if (!(error instanceof RelayError) || error.code !== 'entitlement_missing') throw error;
      full ??= error;
    }
  }
  const [suspended] = memberships;
  if (suspended !== undefined) return suspended.organizationId;
  if (full !== null) throw full;
  return null;
}

export function requireActiveAccount({ status }: Pick<UserRow, 'status'>): void {
  if (status === 'active') return;
  throw new RelayError('permission_denied', {
    message: 'This account is suspended in the whole deployment. Ask the people who run it to restore it.',
  });
}

/** The user has no organization to start in, and what leads to one. `mayFound`: the same request may create one. */
export function noHome(mayFound: boolean): RelayError {
  const why =
    'You are not a member of any organization. Ask an owner or admin for an invitation, and open its link.';
  if (!mayFound) return new RelayError('permission_denied', { message: why });
  return new RelayError('permission_denied', {
    message: `${why} To create your own organization, sign in with a name for it (\`organization_name\`).`,
    param: 'organization_name',
  });
}
