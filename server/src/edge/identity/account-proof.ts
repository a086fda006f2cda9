import type { Kysely, Transaction } from 'kysely';
import { demandAccounts } from '../../domain/accounts.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Call } from '../../http/call.ts';
import { type AuditEntry, appendAudit } from '../../store/configuration/audit-log.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { Parts } from './parts.ts';
import { hasPassword } from './passwords.ts';
import { actorOf, sessionOf } from './session-calls.ts';
import type { LiveSession } from './sessions.ts';

export type ProofCall = Call<'changePassword' | 'changeEmail' | 'startTotp' | 'confirmTotp' | 'removeTotp'>;
type Entry = Pick<AuditEntry, 'action' | 'before' | 'after'>;

/**
 * The session, after the user has proven who they are. Failed proofs count as attempts, because a stolen session could be used
 * to guess.
 */
export async function proven<T>(
  parts: Parts,
  call: ProofCall,
  param: string,
  proof: (session: LiveSession) => Promise<T | false | null>,
): Promise<{ session: LiveSession; result: T }> {
  demandAccounts(parts.deps);
  const session = await sessionOf(parts, call);
  const succeeded = await parts.attempts.take([{ kind: 'proof', of: session.userId }]);
  const result = await proof(session);
  if (result === false || result === null) throw new RelayError('invalid_credentials', { param });
  await succeeded();
  return { session, result };
}

export async function provenByPassword(
  parts: Parts,
  call: ProofCall,
  param: string,
  password: string,
): Promise<LiveSession> {
  const { session } = await proven(parts, call, param, async ({ userId }) => {
    await demandPassword(parts, userId);
    return parts.passwords.matches(userId, password);
  });
  return session;
}

/** For people who are signed in, and who may know that they have no password; a sign-in does not tell. */
export async function demandPassword({ deps }: Parts, userId: string): Promise<void> {
  if (await hasPassword(deps.db, userId)) return;
  throw new RelayError('conflict', {
    message:
      'This account has no password, so its password, email address and second factor can’t be changed here. It signs in with single sign-on or the admin token.',
  });
}

/** Writes a change and its audit entry in one transaction. */
export function record(
  parts: Parts,
  call: ProofCall,
  session: LiveSession,
  entry: Entry,
  write: (tx: Transaction<Database>) => Promise<unknown>,
): Promise<void> {
  return parts.deps.db.transaction().execute(async (tx) => {
    await write(tx);
    await appendEntry(parts, tx, call, session, entry);
  });
}

export function appendEntry(
  { deps }: Parts,
  tx: Kysely<Database>,
  call: ProofCall,
  session: LiveSession,
  entry: Entry,
): Promise<void> {
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
