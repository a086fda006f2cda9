import { createHash } from 'node:crypto';
import { DEPLOYMENT_USER_ID, headers, type InvitationCreated } from '@relay/contract';
import type { Transaction } from 'kysely';
import type { RoleName } from '../../domain/access.ts';
import { demandAccounts } from '../../domain/accounts.ts';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { Handlers } from '../../http/call.ts';
import { invitationLetter } from '../../mail/letters.ts';
import { appendAudit } from '../../store/configuration/audit-log.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { demandDelegation } from '../api-keys/grants.ts';
import { activeStanding, standingsOf } from '../api-keys/standing.ts';
import { demandMayChange } from '../members/rules.ts';
import { actorOf, auditedRow } from '../resources/audited-row.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { demandMatch, entityTag } from '../resources/entity-tag.ts';
import { listFound } from '../resources/paging.ts';
import { demandRoom } from '../resources/plan-counts.ts';
import { conflict, isId, notFound } from '../resources/refusals.ts';
import { storedTable } from '../resources/rows.ts';
import type { WriteCall } from '../resources/write-resource.ts';
import {
  closeExpired,
  type InvitationRow,
  insertInvitation,
  listInvitations,
  lockInvitation,
  memberCount,
  memberWithAddress,
  nameOfOrganization,
  withdrawInvitation,
} from './queries.ts';
import { toInvitation } from './wire.ts';

const DAY_MS = 86_400_000;
const LIFE_MS = 7 * DAY_MS;
/** How long accepted and expired invitations stay in the list. */
const SHOWN_MS = 30 * DAY_MS;
const TOKEN_BYTES = 32;

/** Gateways do not use invitations, so these writes need no configuration version. */
export function invitationHandlers(deps: ManagementDeps): Handlers {
  const nowMs = () => deps.clock.nowMs();

  return {
    async listInvitations(call) {
      if (!deps.deployment.accounts) return [];
      const { organizationId } = call.caller;
      const db = deps.ofOrganization(organizationId);
      const rows = await listFound(call, 'listInvitations', (range) =>
        listInvitations(db, organizationId, nowMs() - SHOWN_MS, range),
      );
      return rows.map((row) => toInvitation(row, nowMs()));
    },
    async createInvitation(call) {
      demandAccounts(deps.deployment);
      const { body, caller } = call;
      demandStorable(body);
      const token = deps.randomBytes(TOKEN_BYTES).toString('base64url');
      const now = new Date(nowMs());
      const db = deps.ofOrganization(caller.organizationId);
      const row = await db.transaction().execute(async (tx) => {
        await demandMayInvite(tx, call, body.role);
        await demandRoom(tx, caller.organizationId, memberCount);
        await demandNoMember(tx, caller.organizationId, body.email);
        await closeExpired(tx, caller.organizationId, body.email, now);
        const inserted = await insertInvitation(tx, {
          organization_id: caller.organizationId,
          id: deps.newId(),
          email: body.email,
          role: body.role,
          token_hash: createHash('sha256').update(token).digest(),
          invited_by_user_id: caller.userId,
          created_at: now,
          expires_at: new Date(now.getTime() + LIFE_MS),
        });
        if (inserted === undefined) throw alreadyInvited();
        await audit(deps, tx, call, 'create', { id: inserted.id, before: null, after: inserted });
        return inserted;
      });
      call.setHeader(headers.etag, entityTag(row));
      // In the fragment, which browsers do not send: the token appears in no access log.
      const accept_url = `${deps.publicUrl}/accept-invitation#token=${token}`;
      const email_delivery = await mailInvitation(deps, row, accept_url);
      return { invitation: toInvitation(row, now.getTime()), accept_url, email_delivery };
    },
    async deleteInvitation(call) {
      demandAccounts(deps.deployment);
      const { organizationId } = call.caller;
      const id = call.params.invitation_id;
      if (!isId(id)) throw notFound('invitation');
      const db = deps.ofOrganization(organizationId);
      await db.transaction().execute(async (tx) => {
        const before = await lockInvitation(tx, organizationId, id);
        if (before === undefined) throw notFound('invitation');
        if (before.accepted_at !== null) throw alreadyAccepted();
        demandMatch(call.header, before);
        await withdrawInvitation(tx, before, new Date(nowMs()));
        await audit(deps, tx, call, 'delete', { id: before.id, before, after: null });
      });
      return undefined;
    },
  };
}

/** After the commit, because a message cannot be taken back. */
async function mailInvitation(
  { mail, ofOrganization }: Pick<ManagementDeps, 'mail' | 'ofOrganization'>,
  row: InvitationRow,
  acceptUrl: string,
): Promise<InvitationCreated['email_delivery']> {
  if (mail === null) return 'not_configured';
  const { organization_id: organizationId, email, role, expires_at } = row;
  const organization = await nameOfOrganization(ofOrganization(organizationId), organizationId);
  const letter = invitationLetter({ to: email, organization, role, acceptUrl, expiresAt: expires_at });
  return (await mail.post(letter, organizationId)) ? 'queued' : 'rejected';
}

async function audit(
  deps: Pick<ManagementDeps, 'newId'>,
  tx: Transaction<Database>,
  call: WriteCall,
  verb: 'create' | 'delete',
  { id, before, after }: { id: string; before: InvitationRow | null; after: InvitationRow | null },
): Promise<void> {
  await appendAudit(tx, {
    id: deps.newId(),
    organizationId: call.caller.organizationId,
    actor: actorOf(call.caller),
    requestId: call.requestId,
    action: `invitation.${verb}`,
    targetType: 'invitation',
    targetId: id,
    before: before && auditedRow(storedTable('invitations'), before),
    after: after && auditedRow(storedTable('invitations'), after),
  });
}

/** Inviting with a role requires the same permissions as giving a member that role. */
async function demandMayInvite(tx: Transaction<Database>, call: WriteCall, role: RoleName): Promise<void> {
  const { organizationId, userId } = call.caller;
  const standings = await standingsOf(tx, organizationId, [userId], { hold: true });
  const actor = activeStanding(standings, call.caller);
  demandDelegation(call.caller, actor);
  demandMayChange(actor, { from: null, to: role });
}

async function demandNoMember(
  tx: Transaction<Database>,
  organizationId: string,
  email: string,
): Promise<void> {
  const memberId = await memberWithAddress(tx, organizationId, email);
  if (memberId === undefined) return;
  throw conflict(
    'email',
    memberId === DEPLOYMENT_USER_ID
      ? 'This address belongs to the admin token. Invite another address.'
      : 'A member of this organization already has this address. Change their role, or activate them if they are suspended, with PATCH /api/org/members/{user_id} instead.',
  );
}

function alreadyAccepted() {
  return conflict(
    null,
    'This invitation has been accepted, so it can’t be withdrawn. Remove the member instead: DELETE /api/org/members/{user_id}.',
  );
}

function alreadyInvited() {
  return conflict(
    'email',
    'An invitation for this address is still open. Withdraw it with DELETE /api/org/invitations/{invitation_id} to send another.',
  );
}
