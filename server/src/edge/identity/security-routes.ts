import { RelayError } from '../../domain/relay-error.ts';
import type { Handlers } from '../../http/call.ts';
import { emailChangedLetter, passwordChangedLetter } from '../../mail/letters.ts';
import { isUniqueViolation } from '../../store/store-error.ts';
import { appendEntry, demandPassword, proven, provenByPassword, record } from './account-proof.ts';
import type { Parts } from './parts.ts';
import { dropResetLinks, storePassword } from './password-resets.ts';
import { plainEmail, readUser, toUser } from './people.ts';
import { removeSecondFactor } from './second-factor.ts';
import { endOtherSessions } from './sessions.ts';

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
      if (email !== before.email) {
        const entry = { action: 'user.change_email', before: { email: before.email }, after: { email } };
        await record(parts, call, session, entry, async (tx) => {
          await tx
            .updateTable('users')
            .set({ email, email_verified: false })
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

function refuseTakenAddress(error: unknown): never {
  if (isUniqueViolation(error))
    throw new RelayError('conflict', {
      message: 'Another account has this email address. Send another address.',
      param: 'email',
    });
  throw error;
}
