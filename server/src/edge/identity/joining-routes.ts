import type { Session, SignUp } from '@relay/contract';
import type { Transaction } from 'kysely';
import { demandAccounts } from '../../domain/accounts.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { Call, Handlers } from '../../http/call.ts';
import { accountExistsLetter, signUpLetter } from '../../mail/letters.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { IdentityDeps } from './deps.ts';
import { requireActiveAccount } from './find-home.ts';
import { foundOrganization } from './found-organization.ts';
import { acceptInvitation, findInvitationByToken, type Invitation, noSuchInvitation } from './invitations.ts';
import { insertPerson } from './join-organization.ts';
import { openSession } from './open-session.ts';
import type { Parts } from './parts.ts';
import { hasPassword } from './passwords.ts';
import { findUserByEmail, plainEmail, type UserRow } from './people.ts';
import { provePassword } from './prove-password.ts';
import { demandIntent, demandOwnOrigin } from './request-intent.ts';
import { clientOf } from './session-calls.ts';
import type { LiveSession } from './sessions.ts';
import { switchOrganization } from './sign-in-routes.ts';
import { createSignUpLink, isOpenSignUpLink, SIGN_UP_MINUTES } from './sign-up-links.ts';

/** The first sign-in: by signing up, or with an invitation. */
export function joiningHandlers(parts: Parts): Handlers {
  const { deps } = parts;
  return {
    async requestSignUp(call) {
      demandOwnOrigin(deps.publicUrl, call.header);
      demandHosted(deps);
      if (deps.mail === null) {
        throw new RelayError('mail_not_configured', {
          message: 'This deployment sends no email. Sign up without a link: POST /api/signup.',
        });
      }
      const email = plainEmail(call.body.email);
      await parts.attempts.take([
        { kind: 'sign_up_address', of: email },
        { kind: 'sign_up', of: clientOf(call).of },
      ]);
      // Not awaited: the response and its time are the same for every address.
      parts.background(() => sendSignUpLink(parts, email));
      return undefined;
    },
    async signUp(call) {
      demandOwnOrigin(deps.publicUrl, call.header);
      demandHosted(deps);
      const { of } = clientOf(call);
      await parts.attempts.take([{ kind: 'sign_up', of }]);
      const { name, email, password, organization_name } = call.body;
      demandStorable({ name, organization_name });
      const emailVerified = isMailboxProven(parts, call.body);
      const succeeded = await parts.attempts.take(emailVerified ? [] : [{ kind: 'failed_sign_up', of }]);
      const passwordHash = await parts.passwords.hash(password);
      const person = { name, email, emailVerified, proof: { passwordHash } };
      const owner = (tx: Transaction<Database>) => insertPerson(tx, deps.newId, person);
      const founded = await foundOrganization(deps, call.requestId, owner, organization_name);
      await succeeded();
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
      if (session?.userId === user.id) return joinAsUser(parts, call, invitation, session);
      return joinWithPassword(parts, call, invitation, user);
    },
  };
}

function demandHosted({ mode }: Pick<IdentityDeps, 'mode'>): void {
  if (mode === 'hosted') return;
  throw new RelayError('mode_unsupported', {
    message: 'A self-hosted deployment has one organization. Ask its owner for an invitation.',
  });
}

/**
 * Only the owner of a mailbox may learn whether its address has an account, so a sign-up needs the link. False: Relay sends no
 * mail and takes the address as typed.
 */
function isMailboxProven({ deps }: Parts, { email, token }: SignUp): boolean {
  if (deps.mail === null) return false;
  if (token === undefined) {
    throw new RelayError('invalid_request', {
      message: 'Send the `token` from the link in your email. POST /api/signup/link sends that email.',
      param: 'token',
    });
  }
  if (isOpenSignUpLink({ ...deps, nowMs: deps.clock.nowMs() }, token, email)) return true;
  throw new RelayError('not_found', {
    message: 'This link doesn’t work: it has expired, or it’s for another address. Request a new one.',
    param: 'token',
  });
}

async function sendSignUpLink({ deps }: Parts, email: string): Promise<void> {
  const user = await findUserByEmail(deps.db, email);
  const { publicUrl } = deps;
  const letter =
    user === undefined
      ? signUpLetter({
          to: email,
          signUpUrl: createSignUpLink({ ...deps, nowMs: deps.clock.nowMs() }, email),
          minutes: SIGN_UP_MINUTES,
        })
      : accountExistsLetter({
          to: user.email,
          signInUrl: `${publicUrl}/console/`,
          resetUrl: `${publicUrl}/console/forgot-password`,
        });
  await deps.mail?.post(letter);
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
      message: `${invitation.email} has no account yet. Send \`name\` and \`password\` to create one.`,
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

/** For a user without a session, who may have no other organization to sign in to. */
async function joinWithPassword(
  parts: Parts,
  call: Call<'acceptInvitation'>,
  invitation: Invitation,
  user: UserRow,
): Promise<Session> {
  const { password, totp_code } = call.body;
  if (password === undefined) throw await accountExists(parts, user);
  const { method } = await provePassword(parts, call, { email: user.email, password, totp_code });
  requireActiveAccount(user);
  await acceptInvitation(parts.deps, call.requestId, invitation, async () => user.id);
  return openSession(parts, call, { userId: user.id, organizationId: invitation.organization_id, method });
}

async function accountExists({ deps }: Parts, { id, email }: UserRow): Promise<RelayError> {
  const next = (await hasPassword(deps.db, id))
    ? 'Send its `password`.'
    : 'Sign in with single sign-on first.';
  return new RelayError('conflict', {
    message: `This invitation is for ${email}, which already has an account. ${next}`,
    param: 'password',
  });
}
