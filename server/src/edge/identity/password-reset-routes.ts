import { demandAccounts } from '../../domain/accounts.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Call, Handlers } from '../../http/call.ts';
import { passwordChangedLetter, passwordResetLetter } from '../../mail/letters.ts';
import { appendAudit } from '../../store/configuration/audit-log.ts';
import type { Parts } from './parts.ts';
import {
  createResetLink,
  dropResetLinks,
  holdResetLink,
  isOpenResetLink,
  type LinkHolder,
  proveAddress,
  RESET_MINUTES,
  storePassword,
} from './password-resets.ts';
import { hasPassword } from './passwords.ts';
import { findUserByEmail, membershipsOf, plainEmail, type UserRow } from './people.ts';
import { demandOwnOrigin } from './request-intent.ts';
import { clientOf } from './session-calls.ts';
import { endSessions } from './sessions.ts';
import { noteOrigin } from './sign-in-origins.ts';

/** A user who forgot the password gets a link by e-mail, and sets a new one with it. */
export function passwordResetHandlers(parts: Parts): Handlers {
  const { deps } = parts;
  return {
    async requestPasswordReset(call) {
      demandOwnOrigin(deps.publicUrl, call.header);
      demandAccounts(deps);
      if (deps.mail === null) throw new RelayError('mail_not_configured');
      const email = plainEmail(call.body.email);
      await parts.attempts.take([
        { kind: 'reset_address', of: email },
        { kind: 'reset_client', of: clientOf(call).of },
      ]);
      const user = await findUserByEmail(deps.db, email);
      // Not awaited: the response and its time are the same for every address.
      if (user !== undefined) parts.background(() => sendLink(parts, user));
      return undefined;
    },
    async confirmPasswordReset(call) {
      demandOwnOrigin(deps.publicUrl, call.header);
      demandAccounts(deps);
      const { token, new_password } = call.body;
      const succeeded = await parts.attempts.take([clientOf(call)]);
      // Before hashing, which is slow: guessed links must not keep users from signing in.
      if (!(await isOpenResetLink(deps.db, token))) throw noSuchLink();
      const password = await parts.passwords.hash(new_password);
      const user = await setPassword(parts, call, token, password);
      if (user === undefined) throw noSuchLink();
      await succeeded();
      // The link has proven who this is, so attempts from elsewhere do not slow the sign-in down that follows.
      await noteOrigin(deps, user.userId, call);
      const resetUrl = `${deps.publicUrl}/console/forgot-password`;
      await deps.mail?.post(
        passwordChangedLetter({ to: user.email, at: new Date(deps.clock.nowMs()), resetUrl }),
      );
      return undefined;
    },
  };
}

async function sendLink({ deps }: Parts, user: UserRow): Promise<void> {
  if (user.status !== 'active' || !(await hasPassword(deps.db, user.id))) return;
  const link = await createResetLink(deps.db, deps.publicUrl, user);
  if (link === undefined) return;
  await deps.mail?.post(passwordResetLetter({ to: user.email, resetUrl: link.url, minutes: RESET_MINUTES }));
}

/** Uses the link, sets the password, ends every session and writes the audit entries, all or nothing. */
function setPassword(
  { deps }: Parts,
  call: Call<'confirmPasswordReset'>,
  token: string,
  password: string,
): Promise<LinkHolder | undefined> {
  return deps.db.transaction().execute(async (tx) => {
    const user = await holdResetLink(tx, token);
    if (user === undefined || !(await storePassword(tx, user.userId, password))) return undefined;
    await dropResetLinks(tx, user.userId);
    await endSessions(tx, user.userId);
    const isFactorRemoved = !user.isAddressProven && (await proveAddress(tx, user.userId));
    const actions = ['user.reset_password', ...(isFactorRemoved ? ['user.remove_totp'] : [])];
    const memberships = await membershipsOf(tx, user.userId);
    await appendAudit(
      tx,
      ...memberships.flatMap(({ organizationId }) =>
        actions.map((action) => ({
          id: deps.newId(),
          organizationId,
          actor: { type: 'user' as const, userId: user.userId },
          requestId: call.requestId,
          action,
          targetType: 'user',
          targetId: user.userId,
        })),
      ),
    );
    return user;
  });
}

/** The same response for a link that is unknown, used or expired. */
function noSuchLink(): RelayError {
  return new RelayError('not_found', {
    message: 'This link doesn’t work: it was already used, has expired, or is incomplete. Request a new one.',
    param: 'token',
  });
}
