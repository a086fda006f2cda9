import { RelayError } from '../../domain/relay-error.ts';
import type { Handlers } from '../../http/call.ts';
import { emailChangedLetter, newAddressLetter, passwordChangedLetter } from '../../mail/letters.ts';
import { isUniqueViolation } from '../../store/store-error.ts';
import { appendEntry, demandPassword, proven, provenByPassword, record } from './account-proof.ts';
import type { Parts } from './parts.ts';
import { dropResetLinks, storePassword } from './password-resets.ts';
import { findUserByEmail, plainEmail, readUser, toUser, type UserRow } from './people.ts';
import { removeSecondFactor } from './second-factor.ts';
import { endOtherSessions } from './sessions.ts';
import { createNewAddressLink, isOpenNewAddressLink, SIGN_UP_MINUTES } from './sign-up-links.ts';

/** Users change how they sign in. Each change needs its own proof of identity. */
export function securityHandlers(parts: Parts): Handlers {
  const { deps } = parts;
  const now = () => new Date(deps.clock.nowMs());
  return {
    async changePassword(call) {
      const { current_password, new_password } = call.body;
      const session = await provenByPassword(parts, call, 'current_password', current_password);
      const password = await parts.passwords.hash(new_password);
      await record(parts, call, session, { action: 'user.change_password' }, async (tx) => {
        await storePassword(tx, session.userId, password);
        await dropResetLinks(tx, session.userId);
        await endOtherSessions(tx, session.userId, session.id);
      });
      const { email } = await readUser(deps.db, session.userId);
      await deps.mail?.post(
        passwordChangedLetter({
          to: email,
          at: now(),
          resetUrl: `${deps.publicUrl}/console/forgot-password`,
        }),
      );
      return undefined;
    },
    async changeEmail(call) {
      const session = await provenByPassword(parts, call, 'password', call.body.password);
      const email = plainEmail(call.body.email);
      const before = await readUser(deps.db, session.userId);
      if (email !== before.email && (await isMailboxProven(parts, before, email, call.body.token))) {
        const entry = { action: 'user.change_email', before: { email: before.email }, after: { email } };
        await record(parts, call, session, entry, async (tx) => {
          await tx
            .updateTable('users')
            .set({ email, email_verified: deps.mail !== null })
            .where('id', '=', session.userId)
            .execute();
          // A link that was sent to the old address.
          await dropResetLinks(tx, session.userId);
        }).catch(refuseTakenAddress);
        await deps.mail?.post(emailChangedLetter({ to: before.email, at: now(), signInUrl: deps.publicUrl }));
      }
      return { user: toUser(await readUser(deps.db, session.userId)) };
    },
    async startTotp(call) {
      const { session, result } = await proven(parts, call, 'password', async ({ token, userId }) => {
        await demandPassword(parts, userId);
        return parts.secondFactor.start(token, call.body.password);
      });
      await appendEntry(parts, deps.db, call, session, { action: 'user.start_totp' });
      call.setHeader('cache-control', 'no-store');
      return result;
    },
    async confirmTotp(call) {
      await proven(parts, call, 'code', (session) =>
        parts.secondFactor.confirm(session.userId, call.body.code, (tx) =>
          appendEntry(parts, tx, call, session, { action: 'user.confirm_totp' }),
        ),
      );
      return undefined;
    },
    async removeTotp(call) {
      const session = await provenByPassword(parts, call, 'password', call.body.password);
      await record(parts, call, session, { action: 'user.remove_totp' }, (tx) =>
        removeSecondFactor(tx, session.userId),
      );
      return undefined;
    },
  };
}

/**
 * Whether a link that was sent to the new address has come back. Without a token, sends that link; until it is used, the old
 * address stays. A deployment without email takes the address as typed.
 */
async function isMailboxProven(
  { deps }: Parts,
  { id: userId }: UserRow,
  email: string,
  token: string | undefined,
): Promise<boolean> {
  if (deps.mail === null) return true;
  const link = { secrets: deps.secrets, publicUrl: deps.publicUrl, nowMs: deps.clock.nowMs() };
  if (token === undefined) {
    if ((await findUserByEmail(deps.db, email)) !== undefined) throw takenAddress();
    const confirmUrl = createNewAddressLink(link, userId, email);
    await deps.mail.post(newAddressLetter({ to: email, confirmUrl, minutes: SIGN_UP_MINUTES }));
    return false;
  }
  if (isOpenNewAddressLink(link, token, { userId, email })) return true;
  throw new RelayError('not_found', {
    message: 'This link doesn’t work: it has expired, or it’s for another address. Request a new one.',
    param: 'token',
  });
}

function refuseTakenAddress(error: unknown): never {
  if (isUniqueViolation(error)) throw takenAddress();
  throw error;
}

function takenAddress(): RelayError {
  return new RelayError('conflict', {
    message: 'Another account has this email address. Send another address.',
    param: 'email',
  });
}
