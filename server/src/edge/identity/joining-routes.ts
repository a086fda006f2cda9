import type { Session } from '@relay/contract';
import { demandAccounts } from '../../domain/accounts.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { Call, Handlers } from '../../http/call.ts';
import { appendAudit } from '../../store/configuration/audit-log.ts';
import { changeAccess } from '../../store/configuration/config-version.ts';
import type { IdentityDeps } from './deps.ts';
import { acceptInvitation, findInvitationByToken, type Invitation, noSuchInvitation } from './invitations.ts';
import { insertOrganization, insertPerson, type NewPerson } from './join-organization.ts';
import { openSession } from './open-session.ts';
import type { Parts } from './parts.ts';
import { findUserByEmail } from './people.ts';
import { demandIntent, demandOwnOrigin } from './request-intent.ts';
import { clientOf } from './session-calls.ts';
import type { LiveSession } from './sessions.ts';
import { switchOrganization } from './sign-in-routes.ts';

/** The first sign-in: by signing up, or with an invitation. */
export function joiningHandlers(parts: Parts): Handlers {
  const { deps } = parts;
  return {
    async signUp(call) {
      demandOwnOrigin(deps.publicUrl, call.header);
      if (deps.mode !== 'hosted') {
        throw new RelayError('mode_unsupported', {
          message: 'A self-hosted deployment has one organization. Ask its owner for an invitation.',
        });
      }
      await parts.attempts.take([{ kind: 'sign_up', of: clientOf(call).of }]);
      const { name, email, password, organization_name } = call.body;
      demandStorable({ name, organization_name });
      const passwordHash = await parts.passwords.hash(password);
      const person = { name, email, emailVerified: false, proof: { passwordHash } };
      const founded = await foundOrganization(deps, call.requestId, person, organization_name);
      return openSession(parts, call, { ...founded, method: 'sign_up' });
    },
    async acceptInvitation(call) {
      demandOwnOrigin(deps.publicUrl, call.header);
      demandAccounts(parts.deps);
      const succeeded = await parts.attempts.take([clientOf(call)]);
      const invitation = await findInvitationByToken(deps.db, call.body.token);
      if (invitation === undefined) throw noSuchInvitation();
      await succeeded();
      const user = await findUserByEmail(deps.db, invitation.email);
      if (user === undefined) return joinAsNewcomer(parts, call, invitation);
      const session = await parts.sessions.find(call.header('cookie'));
      if (session?.userId !== user.id) {
        throw new RelayError('conflict', {
          message: `This invitation is for ${invitation.email}, which has an account. Sign in to it, then accept.`,
          param: 'token',
        });
      }
      return joinAsUser(parts, call, invitation, session);
    },
  };
}

/** Creates a user and their organization in one transaction. */
export async function foundOrganization(
  deps: Pick<IdentityDeps, 'db' | 'newId'>,
  requestId: string,
  person: NewPerson,
  organizationName: string,
): Promise<{ userId: string; organizationId: string }> {
  const organizationId = deps.newId();
  const { result: userId } = await changeAccess(deps.db, organizationId, async (tx) => {
    const ownerId = await insertPerson(tx, deps.newId, person);
    await insertOrganization(tx, { id: organizationId, name: organizationName, ownerId });
    await appendAudit(tx, {
      id: deps.newId(),
      organizationId,
      actor: { type: 'user', userId: ownerId },
      requestId,
      action: 'organization.create',
      targetType: 'organization',
      targetId: organizationId,
      after: { name: organizationName, plan: 'free' },
    });
    return { result: ownerId, keyIds: [] };
  });
  return { userId, organizationId };
}

async function joinAsNewcomer(
  parts: Parts,
  call: Call<'acceptInvitation'>,
  invitation: Invitation,
): Promise<Session> {
  const { deps } = parts;
  const { name, password } = call.body;
  if (name === undefined || password === undefined) {
    throw new RelayError('invalid_request', {
      message: `${invitation.email} has no account yet. Send \`name\` and \`password\` to create it.`,
      param: name === undefined ? 'name' : 'password',
    });
  }
  demandStorable({ name });
  const passwordHash = await parts.passwords.hash(password);
  const userId = await acceptInvitation(deps, call.requestId, invitation, (tx) =>
    insertPerson(tx, deps.newId, {
      name,
      email: invitation.email,
      // In a hosted deployment, anyone can invite any address and use the link themselves.
      emailVerified: deps.mode === 'self_hosted',
      proof: { passwordHash },
    }),
  );
  return openSession(parts, call, {
    userId,
    organizationId: invitation.organization_id,
    method: 'invitation',
  });
}

async function joinAsUser(
  parts: Parts,
  call: Call<'acceptInvitation'>,
  invitation: Invitation,
  session: LiveSession,
): Promise<Session> {
  demandIntent(parts.deps, session.id, { method: 'POST', header: call.header });
  await acceptInvitation(parts.deps, call.requestId, invitation, async () => session.userId);
  return switchOrganization(parts, call, session, invitation.organization_id);
}
