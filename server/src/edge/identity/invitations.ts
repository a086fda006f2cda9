import { hash } from 'node:crypto';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import { appendAudit } from '../../store/configuration/audit-log.ts';
import { changeAccess } from '../../store/configuration/config-version.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { IdentityDeps } from './deps.ts';
import { demandRoomForMember, insertMember } from './join-organization.ts';
import { everyMembershipOf, plainEmail } from './people.ts';

export type Invitation = Selectable<Database['invitations']>;

export function findInvitationByToken(db: Kysely<Database>, token: string): Promise<Invitation | undefined> {
  return openInvitations(db)
    .where('token_hash', '=', hash('sha256', token, 'buffer'))
    .executeTakeFirst();
}

const INVITATIONS_MAX = 100;

/** The open invitations to this address, of any organization, the oldest first. */
export function openInvitationsTo(db: Kysely<Database>, email: string): Promise<Invitation[]> {
  return openInvitations(db)
    .where(sql<string>`lower(email)`, '=', plainEmail(email))
    .orderBy('id')
    .limit(INVITATIONS_MAX)
    .execute();
}

function openInvitations(db: Kysely<Database>) {
  return db
    .selectFrom('invitations')
    .selectAll()
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`);
}

/** The same response for an invitation that is unknown, used, withdrawn or expired. */
export function noSuchInvitation(): RelayError {
  return new RelayError('not_found', {
    message: 'This invitation link isn’t valid or has expired. Ask for a new one.',
  });
}

/** Adds the member and uses the invitation in one transaction. `person` finds or creates the user in it and returns their id. */
export async function acceptInvitation(
  deps: Pick<IdentityDeps, 'db' | 'fences' | 'newId'>,
  requestId: string,
  invitation: Invitation,
  person: (tx: Transaction<Database>) => Promise<string>,
): Promise<string> {
  const { organization_id: organizationId, id, role } = invitation;
  const { result: userId, version } = await changeAccess(deps.db, organizationId, async (tx) => {
    await demandRoomForMember(tx, organizationId);
    const held = await openInvitations(tx)
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst();
    if (held === undefined) throw noSuchInvitation();
    const joining = await person(tx);
    if (!(await insertMember(tx, { organizationId, userId: joining, role }))) {
      throw await alreadyMember(tx, organizationId, joining);
    }
    await tx
      .updateTable('invitations')
      .set({ accepted_at: sql<Date>`now()` })
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .execute();
    await appendAudit(tx, {
      id: deps.newId(),
      organizationId,
      actor: { type: 'user', userId: joining },
      requestId,
      action: 'invitation.accept',
      targetType: 'invitation',
      targetId: id,
      after: { user_id: joining, email: invitation.email, role },
    });
    return { result: joining, keyIds: [] };
  });
  await announce(deps, organizationId, version);
  return userId;
}

async function alreadyMember(
  tx: Transaction<Database>,
  organizationId: string,
  userId: string,
): Promise<RelayError> {
  const current = (await everyMembershipOf(tx, userId)).find(
    (each) => each.organizationId === organizationId,
  );
  const message =
    current?.isActive === false
      ? 'Your access to this organization is suspended. Ask an owner or admin to restore it.'
      : 'You’re already a member of this organization.';
  return new RelayError('conflict', { message });
}

/**
 * A gateway that does not know the member would reject them. If the fence cannot be raised, gateways notice at their next
 * poll.
 */
export async function announce(
  { fences }: Pick<IdentityDeps, 'fences'>,
  organizationId: string,
  version: number,
): Promise<void> {
  await fences.raise(organizationId, version).catch(() => undefined);
}
