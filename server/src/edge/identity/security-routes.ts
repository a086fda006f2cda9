import { type Kysely, sql, type Transaction } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import type { Call, Handlers } from '../../http/call.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { type AuditEntry, appendAudit } from './audit.ts';
import { addressTaken } from './join-organization.ts';
import type { Parts } from './parts.ts';
import { CREDENTIAL } from './passwords.ts';
import { plainEmail, readUser, toUser } from './people.ts';
import { actorOf, demandAccounts, sessionOf } from './session-calls.ts';
import { endOtherSessions, type LiveSession } from './sessions.ts';

type ProofCall = Call<'changePassword' | 'changeEmail' | 'startTotp' | 'confirmTotp' | 'removeTotp'>;
type Write = (tx: Transaction<Database>) => Promise<unknown>;
type Entry = Pick<AuditEntry, 'action' | 'before' | 'after'>;

/** How somebody proves to be who they are, changed by themselves. Each change needs a proof of its own. */
export function securityHandlers(parts: Parts): Handlers {
  const { deps } = parts;

  /** The session, once the proof has held. Wrong ones are counted, because a stolen session could guess. */
  async function proven<T>(
    call: ProofCall,
    param: string,
    proof: (session: LiveSession) => Promise<T | false | null>,
  ): Promise<{ session: LiveSession; result: T }> {
    demandAccounts(parts);
    const session = await sessionOf(parts, call);
    const succeeded = await parts.attempts.take([{ kind: 'account', of: session.userId }]);
    const result = await proof(session);
    if (result === false || result === null) throw new RelayError('invalid_credentials', { param });
    await succeeded();
    return { session, result };
  }

  function provenByPassword(call: ProofCall, param: string, password: string) {
    return proven(call, param, (session) => parts.passwords.matches(session.userId, password));
  }

  /** What is written and the entry that tells of it, together or not at all. */
  function record(call: ProofCall, session: LiveSession, entry: Entry, write: Write): Promise<void> {
    return deps.db.transaction().execute(async (tx) => {
      await write(tx);
      await append(tx, call, session, entry);
    });
  }

  function append(tx: Kysely<Database>, call: ProofCall, session: LiveSession, entry: Entry): Promise<void> {
    return appendAudit(tx, {
      id: deps.newId(),
      organizationId: session.organizationId,
      actor: actorOf(session),
      requestId: call.requestId,
      targetType: 'user',
      targetId: session.userId,
      ...entry,
    });
  }

  return {
    async changePassword(call) {
      const { current_password, new_password } = call.body;
      const { session } = await provenByPassword(call, 'current_password', current_password);
      const password = await parts.passwords.hash(new_password);
      await record(call, session, { action: 'user.change_password' }, async (tx) => {
        await tx
          .updateTable('auth_accounts')
          .set({ password, updated_at: sql<Date>`now()` })
          .where('provider_id', '=', CREDENTIAL)
          .where('account_id', '=', session.userId)
          .execute();
        await endOtherSessions(tx, session.userId, session.id);
      });
      return undefined;
    },
    async changeEmail(call) {
      const { session } = await provenByPassword(call, 'password', call.body.password);
      const email = plainEmail(call.body.email);
      const before = await readUser(deps.db, session.userId);
      if (email !== before.email) {
        const entry = { action: 'user.change_email', before: { email: before.email }, after: { email } };
        await record(call, session, entry, (tx) =>
          tx
            .updateTable('users')
            .set({ email, email_verified: false })
            .where('id', '=', session.userId)
            .execute(),
        ).catch(refuseTakenAddress);
      }
      return { user: toUser(await readUser(deps.db, session.userId)) };
    },
    async startTotp(call) {
      const { session, result } = await proven(call, 'password', ({ token }) =>
        parts.secondFactor.start(token, call.body.password),
      );
      await append(deps.db, call, session, { action: 'user.start_totp' });
      call.setHeader('cache-control', 'no-store');
      return result;
    },
    async confirmTotp(call) {
      await proven(call, 'code', (session) =>
        parts.secondFactor.confirm(session.userId, call.body.code, (tx) =>
          append(tx, call, session, { action: 'user.confirm_totp' }),
        ),
      );
      return undefined;
    },
    async removeTotp(call) {
      const { session } = await provenByPassword(call, 'password', call.body.password);
      await record(call, session, { action: 'user.remove_totp' }, (tx) =>
        parts.secondFactor.remove(tx, session.userId),
      );
      return undefined;
    },
  };
}

const UNIQUE_VIOLATION = '23505';

function refuseTakenAddress(error: unknown): never {
  if ((error as { code?: string }).code === UNIQUE_VIOLATION) throw addressTaken('email');
  throw error;
}
