import { hash, randomBytes } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { CREDENTIAL } from './passwords.ts';

export const RESET_MINUTES = 30;
const TOKEN_BYTES = 32;
const EXPIRED_PER_LINK_MAX = 100;

/** A new one-time link for a user with a password. The token is in the fragment, which browsers do not send. */
export async function createResetLink(
  db: Kysely<Database>,
  publicUrl: string,
  userId: string,
): Promise<{ url: string; expiresAt: Date }> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const { expires_at: expiresAt } = await db
    .insertInto('password_resets')
    .values({
      token_hash: digestOf(token),
      user_id: userId,
      expires_at: sql<Date>`now() + make_interval(mins => ${RESET_MINUTES})`,
    })
    .returning('expires_at')
    .executeTakeFirstOrThrow();
  await clearExpired(db);
  return { url: `${publicUrl}/console/reset-password#token=${token}`, expiresAt };
}

export async function isOpenResetLink(db: Kysely<Database>, token: string): Promise<boolean> {
  const found = await db
    .selectFrom('password_resets')
    .select('user_id')
    .where('token_hash', '=', digestOf(token))
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst();
  return found !== undefined;
}

/** The user of a link that still works. Locks the user, so that of concurrent uses of any of their links one succeeds. */
export async function holdResetLink(
  tx: Transaction<Database>,
  token: string,
): Promise<{ userId: string; email: string } | undefined> {
  const user = await tx
    .selectFrom('password_resets as reset')
    .innerJoin('users', 'users.id', 'reset.user_id')
    .select(['users.id', 'users.email'])
    .where('reset.token_hash', '=', digestOf(token))
    .where('users.status', '=', 'active')
    .forUpdate('users')
    .executeTakeFirst();
  if (user === undefined) return undefined;
  // Read again under the lock: a concurrent use has deleted the row.
  const used = await tx
    .deleteFrom('password_resets')
    .where('token_hash', '=', digestOf(token))
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('user_id')
    .executeTakeFirst();
  return used === undefined ? undefined : { userId: user.id, email: user.email };
}

/** Called whenever the password or the address changes: older links must not change it again. */
export async function dropResetLinks(tx: Kysely<Database>, userId: string): Promise<void> {
  await tx.deleteFrom('password_resets').where('user_id', '=', userId).execute();
}

/** False: the user has no password, and signs in by single sign-on. */
export async function storePassword(
  tx: Kysely<Database>,
  userId: string,
  password: string,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('auth_accounts')
    .set({ password, updated_at: sql<Date>`now()` })
    .where('provider_id', '=', CREDENTIAL)
    .where('account_id', '=', userId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Each new link removes more than it adds. */
async function clearExpired(db: Kysely<Database>): Promise<void> {
  const expired = db
    .selectFrom('password_resets')
    .select('token_hash')
    .where('expires_at', '<=', sql<Date>`now()`)
    .orderBy('expires_at')
    .limit(EXPIRED_PER_LINK_MAX);
  await db.deleteFrom('password_resets').where('token_hash', 'in', expired).execute();
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
