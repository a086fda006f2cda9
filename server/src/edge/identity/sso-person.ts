import type { Kysely, Transaction } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import { appendAudit } from '../../store/configuration/audit-log.ts';
import { changeAccess } from '../../store/configuration/config-version.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { IdentityDeps } from './deps.ts';
import { findHome, noHome } from './find-home.ts';
import { foundOrganization, ownerOf } from './found-organization.ts';
import type { Profile } from './identity-provider.ts';
import { acceptInvitation, announce, openInvitationsTo } from './invitations.ts';
import { demandRoomForMember, insertMember, insertPerson, insertProof } from './join-organization.ts';
import { findUserByEmail, plainEmail, readUser, type UserRow } from './people.ts';

export interface Arrival {
  readonly userId: string;
  readonly organizationId: string;
}

/**
 * The user that the identity provider vouches for, and the organization they start in. `signedInUserId` is the user of the
 * browser's current session, if any.
 */
export async function arriveBySso(
  deps: IdentityDeps,
  requestId: string,
  profile: Profile,
  signedInUserId: string | null,
): Promise<Arrival> {
  const user = (await findLinked(deps.db, profile)) ?? (await linkByEmail(deps, profile, signedInUserId));
  if (user === undefined) return welcome(deps, requestId, profile);
  const isAddressProven =
    user.email_verified || (profile.emailVerified && plainEmail(profile.email) === plainEmail(user.email));
  const home = await findHome(deps, requestId, user, isAddressProven);
  if (home !== null) return { userId: user.id, organizationId: home };
  // A removed member does not come back without an invitation, but may have an organization of their own.
  if (deps.mode !== 'hosted') throw noHome(false);
  return foundOrganization(deps, requestId, ownerOf(user), organizationNameOf(user.name));
}

async function findLinked(db: Kysely<Database>, profile: Profile): Promise<UserRow | undefined> {
  const account = await db
    .selectFrom('auth_accounts')
    .select('user_id')
    .where('provider_id', '=', profile.providerId)
    .where('account_id', '=', profile.subject)
    .executeTakeFirst();
  return account === undefined ? undefined : readUser(db, account.user_id);
}

/**
 * Links the user with the same address. Anyone can type an address when signing up and would later share the account of its
 * real owner, so either the address is verified here as well, or the browser is signed in to the account.
 */
async function linkByEmail(
  deps: IdentityDeps,
  profile: Profile,
  signedInUserId: string | null,
): Promise<UserRow | undefined> {
  if (!profile.emailVerified) {
    throw new RelayError('permission_denied', {
      message:
        'The identity provider hasn’t verified your email address. Ask its administrator to set the email_verified claim.',
    });
  }
  const user = await findUserByEmail(deps.db, profile.email);
  if (user === undefined) return undefined;
  if (!user.email_verified && user.id !== signedInUserId) {
    throw new RelayError('permission_denied', {
      message:
        'An unverified account has your email address. Sign in with its password, then use single sign-on once to link the two.',
    });
  }
  await deps.db.transaction().execute(async (tx) => {
    await insertProof(tx, deps.newId, user.id, profile);
    await tx.updateTable('users').set({ email_verified: true }).where('id', '=', user.id).execute();
  });
  return user;
}

/** A new user: joins the organization that invited them, else follows the deployment's settings. */
async function welcome(deps: IdentityDeps, requestId: string, profile: Profile): Promise<Arrival> {
  const { name, email } = profile;
  const person = { name, email, emailVerified: true, proof: profile };
  const [invitation] = await openInvitationsTo(deps.db, email);
  if (invitation !== undefined) {
    const userId = await acceptInvitation(deps, requestId, invitation, (tx) =>
      insertPerson(tx, deps.newId, person),
    );
    return { userId, organizationId: invitation.organization_id };
  }
  if (deps.mode === 'hosted') {
    const owner = (tx: Transaction<Database>) => insertPerson(tx, deps.newId, person);
    return foundOrganization(deps, requestId, owner, organizationNameOf(name));
  }
  const role = deps.oidc?.joinRole ?? null;
  if (role === null || deps.admin === null) throw notAMember();
  const { organizationId } = deps.admin;
  const { result: userId, version } = await changeAccess(deps.db, organizationId, async (tx) => {
    await demandRoomForMember(tx, organizationId);
    const joining = await insertPerson(tx, deps.newId, person);
    await insertMember(tx, { organizationId, userId: joining, role });
    await appendAudit(tx, {
      id: deps.newId(),
      organizationId,
      actor: { type: 'user', userId: joining },
      requestId,
      action: 'member.create',
      targetType: 'member',
      targetId: joining,
      after: { name, email, role, status: 'active' },
    });
    return { result: joining, keyIds: [] };
  });
  await announce(deps, organizationId, version);
  return { userId, organizationId };
}

const NAME_CHARACTERS_MAX = 150;

function organizationNameOf(name: string): string {
  return `${name.slice(0, NAME_CHARACTERS_MAX)}’s organization`;
}

function notAMember(): RelayError {
  return new RelayError('permission_denied', {
    message:
      'You are not an active member of any organization here. Ask an owner or admin for an invitation.',
  });
}
